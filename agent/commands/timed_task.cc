#include "agent/commands/timed_task.h"

#include <sys/eventfd.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/owned_fd.h"

namespace muster::agent {

struct TimedTask::Work {
  const OwnedFd cancel{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex;
  std::condition_variable changed;
  // the task's result, once the task has returned; guarded by mutex
  std::optional<absl::Status> outcome;
  bool cancelled = false;  // whether Cancel was called; guarded by mutex
  // Whether the task ended, or its deadline passed, before any call of Cancel.
  // If so, the callback `done` has been called or will be called. Guarded by
  // mutex.
  bool over = false;
};

TimedTask::~TimedTask() { Cancel(); }

void TimedTask::Start(Task task, Duration timeout, Done done) {
  Cancel();
  work_ = std::make_shared<Work>();
  std::thread([work = work_, task = std::move(task)] {
    absl::Status outcome = task(work->cancel.get());
    std::lock_guard<std::mutex> lock(work->mutex);
    work->outcome = std::move(outcome);
    work->changed.notify_all();
  }).detach();
  waiter_ = std::thread([work = work_, timeout, done = std::move(done)] {
    absl::Status outcome = absl::DeadlineExceededError(
        absl::StrCat("it did not end within ", ToSeconds(timeout), " s"));
    {
      std::unique_lock<std::mutex> lock(work->mutex);
      work->changed.wait_for(lock, timeout, [&] {
        return work->outcome.has_value() || work->cancelled;
      });
      if (work->cancelled) return;
      work->over = true;
      if (work->outcome.has_value()) outcome = *work->outcome;
    }
    eventfd_write(work->cancel.get(), 1);
    done(outcome);
  });
}

TimedTask::CancelResult TimedTask::Cancel() {
  if (work_ == nullptr) return CancelResult::kFinished;
  CancelResult result = CancelResult::kFinished;
  {
    std::lock_guard<std::mutex> lock(work_->mutex);
    result = work_->over ? CancelResult::kFinished : CancelResult::kRunning;
    work_->cancelled = true;
    work_->changed.notify_all();
  }
  eventfd_write(work_->cancel.get(), 1);
  waiter_.join();
  work_.reset();
  return result;
}

}  // namespace muster::agent
