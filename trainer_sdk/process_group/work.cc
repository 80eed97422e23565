#include "trainer_sdk/process_group/work.h"

#include <utility>

#include "base/check.h"
#include "base/monotonic_clock.h"

namespace muster {

absl::Status Work::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  completed_changed_.wait(lock, [&] { return completed_; });
  return status_;
}

absl::Status Work::Wait(Instant deadline) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!completed_changed_.wait_until(lock, ToSteady(deadline),
                                     [&] { return completed_; })) {
    return absl::DeadlineExceededError("the operation is still under way");
  }
  return status_;
}

bool Work::is_completed() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return completed_;
}

absl::Status Work::status() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return completed_ ? status_
                    : absl::FailedPreconditionError(
                          "the operation is still under way");
}

void Work::Complete(absl::Status status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  MUSTER_CHECK(!completed_) << "a work is completed twice";
  completed_ = true;
  status_ = std::move(status);
  completed_changed_.notify_all();
}

}  // namespace muster
