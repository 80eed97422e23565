#include "rendezvous/protocol/verdict.h"

namespace muster::rendezvous {

int ExitCodeOf(const Failure& failure) {
  switch (failure.kind) {
    case FailureKind::kExitCode:
      // If a worker has exited with the code that `launch` uses for a
      // preemption, `launch` must not return this code: Slurm or Kubernetes
      // would start the job again and again.
      if (failure.exit_code == kPreemptedExitCode) return 1;
      [[fallthrough]];
    case FailureKind::kStartFailed:
      return failure.exit_code != 0 ? failure.exit_code : 1;
    case FailureKind::kSignal:
      return 128 + failure.signal;
    case FailureKind::kStoppedByUs:
    case FailureKind::kNodeLost:
    case FailureKind::kHung:
      return 1;
  }
  return 1;
}

}  // namespace muster::rendezvous
