#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_WORK_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_WORK_H_

#include <condition_variable>
#include <mutex>

#include "absl/status/status.h"
#include "base/time.h"

namespace muster {

// A started operation. Thread-safe.
class Work {
 public:
  // Blocks until the operation is completed, which happens by its own deadline
  // at the latest, and returns its status.
  absl::Status Wait();

  // Blocks until the operation is completed or `deadline` (MonotonicNow's
  // clock) passes. In the second case it returns DeadlineExceeded and the
  // operation continues.
  absl::Status Wait(Instant deadline);

  // Whether it has ended, successfully or not.
  bool is_completed() const;

  // Its status; FailedPrecondition while it has not ended.
  absl::Status status() const;

  // Called once by the code that performs the operation: sets its status and
  // wakes all waiters.
  void Complete(absl::Status status);

 private:
  mutable std::mutex mutex_;
  std::condition_variable completed_changed_;
  bool completed_ = false;  // guarded by mutex_
  absl::Status status_;     // guarded by mutex_
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_WORK_H_
