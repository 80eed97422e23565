#ifndef MUSTER_RENDEZVOUS_PROTOCOL_FAILURE_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_FAILURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"

namespace muster::rendezvous {

enum class FailureKind {
  kExitCode,     // A worker exited with a code other than 0.
  kSignal,       // A worker was killed by a signal that Muster did not send.
  kStartFailed,  // A worker did not start; `message` says why.
  kStoppedByUs,  // A worker ended while its node was stopping the round.
  kNodeLost,     // A node's agent vanished, fell silent or did not stop.
  kHung,         // A worker that had reported progress was silent too long.
};

// The end of one worker (or node), as the verdict shows it. The size is
// limited: the agent cuts every text before reporting it (the limits are
// below).
struct Failure {
  FailureKind kind = FailureKind::kExitCode;
  std::string node_id;
  std::string host;
  int group_rank = -1;
  int rank = -1;  // global rank; -1: failure of a node
  int local_rank = -1;
  int64_t pid = 0;
  int exit_code = 0;  // kExitCode: 1..255; kStartFailed: 126 or 127
  // For kSignal, kStoppedByUs: the signal; 0: none. For kHung: SIGSTOP if a
  // signal keeps the worker stopped.
  int signal = 0;
  // Time of the failure in seconds since 1970 by the node's clock, only for
  // display. No decision compares it, since the clocks of two nodes may differ
  // by minutes.
  double unix_time = 0;
  // One line that describes the failure: the exception in the error file of
  // PyTorch's @record, "exit code 3", "lease ran out after 10 s", "exec /opt/x:
  // Permission denied".
  std::string message;
  // path of the error file; empty: none
  std::string error_file;
  std::string traceback;  // traceback in the error file
  // Set only if the worker ended while its node was stopping the round. True:
  // the worker wrote its error file before the event that caused the stop, by
  // the node's clock.
  bool raised_first = false;
  std::vector<std::string> stderr_tail;  // last lines of stderr, oldest first
  // For kHung. silent_for: how long the worker had been silent when this
  // message was sent; the receiver computes from it which worker fell silent
  // first. stack: the most informative lines of the worker's stack.
  Duration silent_for = Duration::zero();
  std::vector<std::string> stack;
};

inline constexpr int kMaxFailuresPerReport = 8;
inline constexpr int kMaxStderrLines = 12;
inline constexpr int kMaxStackLines = 24;
inline constexpr int kMaxLineBytes = 400;
inline constexpr int kMaxTracebackBytes = 4096;

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_FAILURE_H_
