#ifndef MUSTER_TRAINER_SDK_SESSION_STOP_REQUEST_H_
#define MUSTER_TRAINER_SDK_SESSION_STOP_REQUEST_H_

#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// Whether this process has been asked to end: by SIGTERM, which launch,
// torchrun and Slurm send some time before they kill; by SIGINT, which is
// Ctrl-C, and which launch passes on; or by the file that
// MUSTER_PREEMPTION_FILE names, which is there once launch has been told that
// the cluster takes the nodes away, whatever signal it sends
// (--preempt-signal). The training is to stop at its next step, with a last
// checkpoint. Thread-safe.
class StopRequest {
 public:
  // Takes the signals over: from now on SIGTERM ends the process no more, and
  // SIGINT only when it comes again, a second or more after the first one. A
  // SIGINT that is ignored, as in a shell's background jobs, stays so.
  static void Listen();

  // One look at the file system; a few microseconds.
  static bool Asked();

  // Whether any rank has been asked: the same answer on every rank, so that all
  // stop behind the same step. Collective.
  static absl::StatusOr<bool> AskedAnyone(ProcessGroup& world);
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SESSION_STOP_REQUEST_H_
