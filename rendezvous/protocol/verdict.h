#ifndef MUSTER_RENDEZVOUS_PROTOCOL_VERDICT_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_VERDICT_H_

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "rendezvous/protocol/failure.h"
#include "rendezvous/protocol/time_ledger.h"

namespace muster::rendezvous {

enum class Outcome {
  kSucceeded,
  kFailed,     // a worker or a node failed, and no restart was left
  kCancelled,  // a node got Ctrl-C or SIGTERM, or a user ran `launch cancel`
  kTimedOut,   // too few nodes joined within the time limit
  kPreempted,  // the cluster took the nodes away after a notice
};

// Whether a job with this outcome usually runs again: after a preemption the
// cluster runs it again, after a time-out the missing nodes may come later.
inline bool RunsAgain(Outcome outcome) {
  return outcome == Outcome::kPreempted || outcome == Outcome::kTimedOut;
}

// The reason why a job ended; the same on every node. The size of a verdict
// does not grow with the number of nodes.
struct Verdict {
  Outcome outcome = Outcome::kSucceeded;
  // The exit code of `launch`. Success: 0. Preemption: kPreemptedExitCode.
  // Cancellation: 128 + signal. If a failure ended the job: ExitCodeOf(*cause).
  // Any other end, such as a time-out: 1.
  int exit_code = 0;
  std::string reason;               // why the job ended, as one sentence
  std::optional<Failure> cause;     // the blamed failure (see FailureLog)
  std::vector<Failure> collateral;  // failures other than `cause`, as received
  // number of failures that `collateral` omits
  int collateral_omitted = 0;
  int restarts_used = 0;
  int max_restarts = 0;
  int rounds = 0;
  Duration lasted = Duration::zero();  // time since the first node joined
  JobTime time;
};

inline constexpr int kMaxCollateral = 16;

// Exit code of `launch` after a preemption: EX_TEMPFAIL of sysexits.h, "try
// again later". A worker is unlikely to use this code.
inline constexpr int kPreemptedExitCode = 75;

// Returns the exit code of `launch` if `failure` ended the job: the worker's
// exit code, 128 + signal if a signal killed the worker, or else 1. Returns 1,
// too, if the worker's exit code is kPreemptedExitCode.
int ExitCodeOf(const Failure& failure);

// Exit code of `launch` on a node that was a spare until its job succeeded:
// EX_UNAVAILABLE of sysexits.h.
inline constexpr int kNeverRanExitCode = 69;

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_VERDICT_H_
