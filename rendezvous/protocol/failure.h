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
  kStartFailed,  // A worker could not be started: exec, log folder, limits.
  kStoppedByUs,  // A worker ended because the round was broken: collateral.
  kNodeLost,     // A node's agent vanished, fell silent or did not stop.
  kHung,  // A worker had reported progress, then was silent for too long.
};

// The end of one worker (or node), as the verdict shows it. Its size is
// bounded: the agent cuts every text before reporting it (the limits are
// below).
struct Failure {
  FailureKind kind = FailureKind::kExitCode;
  std::string node_id;
  std::string host;
  int group_rank = -1;
  int rank = -1;  // global rank; -1: the failure is a node's
  int local_rank = -1;
  int64_t pid = 0;
  int exit_code = 0;  // kExitCode: 1..255; kStartFailed: 126 or 127
  // kSignal, kStoppedByUs: the signal, 0 if there was none. kHung: SIGSTOP if
  // the worker is stopped by a signal.
  int signal = 0;
  // Seconds since 1970 by the node's clock, shown to people only. No decision
  // compares it, since the clocks of two nodes may differ by minutes.
  double unix_time = 0;
  // One line: the exception of @record's error file, "exit code 3", "lease ran
  // out after 10 s", "exec /opt/x: Permission denied".
  std::string message;
  // path of the error file; empty: the worker wrote none
  std::string error_file;
  std::string traceback;  // traceback in the error file
  // The worker ended while its node was stopping the round, but its error file
  // is older than the reason to stop, by that node's clock.
  bool raised_first = false;
  std::vector<std::string> stderr_tail;  // last lines of stderr, oldest first
  // kHung only: how long the worker had been silent when this message was sent
  // (the receiver finds the worker that fell silent first), and the most
  // informative lines of the worker's stack.
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
