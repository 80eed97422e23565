#ifndef MUSTER_TRAINER_SDK_SESSION_STOP_REQUEST_H_
#define MUSTER_TRAINER_SDK_SESSION_STOP_REQUEST_H_

#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// Tells a training program whether it was asked to stop. There are three kinds
// of requests. SIGTERM: launch, torchrun and Slurm send it some time before
// they kill a process. SIGINT: Ctrl-C, which launch forwards. The file named by
// MUSTER_PREEMPTION_FILE: launch creates it when the cluster announces a
// preemption, whatever signal the cluster uses (--preempt-signal). The program
// should then write a last checkpoint and stop at its next step. Thread-safe.
class StopRequest {
 public:
  // Installs the signal handlers. From then on, SIGTERM does not end the
  // process. A SIGINT ends the process only if it arrives a second or more
  // after the first SIGINT. If SIGINT is ignored, as in a background job of a
  // shell, it stays ignored.
  static void Listen();

  // Whether this process was asked to stop. Each call looks for the file that
  // MUSTER_PREEMPTION_FILE names, which takes a few microseconds.
  static bool Asked();

  // Whether any rank was asked to stop. Collective; every rank gets the same
  // result, so that all ranks stop after the same step.
  static absl::StatusOr<bool> AskedAnyone(ProcessGroup& world);
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SESSION_STOP_REQUEST_H_
