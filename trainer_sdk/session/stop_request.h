#ifndef MUSTER_TRAINER_SDK_SESSION_STOP_REQUEST_H_
#define MUSTER_TRAINER_SDK_SESSION_STOP_REQUEST_H_

#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// Whether this process has been asked to end: SIGTERM, which launch, torchrun
// and Slurm send some time before they kill. From the first call on the signal
// ends the process no more: it asks, and the training is to stop at its next
// step, with a last checkpoint. Thread-safe.
class StopRequest {
 public:
  // Takes the signal over.
  static void Listen();

  static bool Asked();

  // Whether any rank has been asked: the same answer on every rank, so that all
  // stop behind the same step. Collective.
  static absl::StatusOr<bool> AskedAnyone(ProcessGroup& world);
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SESSION_STOP_REQUEST_H_
