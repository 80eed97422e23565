#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_WORK_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_WORK_H_

#include <condition_variable>
#include <mutex>

#include "absl/status/status.h"
#include "base/time.h"

namespace muster {

// An operation that was started. Thread-safe.
class Work {
 public:
  // Waits until the operation is completed, which its own deadline bounds;
  // how it ended.
  absl::Status Wait();

  // The same, but DeadlineExceeded if it is not completed by `deadline` (on
  // MonotonicNow's clock); the operation goes on then.
  absl::Status Wait(Instant deadline);

  // Whether it has ended, well or not.
  bool is_completed() const;

  // How it ended; FailedPrecondition while it has not.
  absl::Status status() const;

  // For those who perform operations: once, the end.
  void Complete(absl::Status status);

 private:
  mutable std::mutex mutex_;
  std::condition_variable completed_changed_;
  bool completed_ = false;  // guarded by mutex_
  absl::Status status_;     // guarded by mutex_
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_WORK_H_
