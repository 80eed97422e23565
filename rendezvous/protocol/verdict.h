#ifndef MUSTER_RENDEZVOUS_PROTOCOL_VERDICT_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_VERDICT_H_

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "rendezvous/protocol/failure.h"

namespace muster {

enum class Outcome {
  kSucceeded,
  kFailed,     // a worker or a node failed and nothing was left to try
  kCancelled,  // somebody asked: a signal at a node, or `launch cancel`
  kTimedOut,   // too few nodes came within the join time-out
  kPreempted,  // the cluster took the nodes away, and had said so
};

// Why a job ended. Every node is told the same one. Its size does not grow
// with the number of nodes.
struct Verdict {
  Outcome outcome = Outcome::kSucceeded;
  // What `launch` exits with: 0; the cause's exit code; 128 + signal;
  // kPreemptedExitCode; else 1.
  int exit_code = 0;
  std::string reason;               // one sentence
  std::optional<Failure> cause;     // the first failure in coordinator order
  std::vector<Failure> collateral;  // in coordinator order, after the cause
  int collateral_omitted = 0;       // beyond kMostCollateral
  int restarts_used = 0;
  int max_restarts = 0;
  int rounds = 0;
  Duration lasted = Duration::zero();  // since the first node joined
};

inline constexpr int kMostCollateral = 16;

// What `launch` exits with after a preemption: EX_TEMPFAIL of sysexits.h, "try
// again later", which no worker's end is likely to be.
inline constexpr int kPreemptedExitCode = 75;

// What `launch` exits with on a node that stayed a spare until its job had
// succeeded: EX_UNAVAILABLE of sysexits.h.
inline constexpr int kNeverRanExitCode = 69;

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_VERDICT_H_
