#include "trainer_sdk/ddp/reduction_thread.h"

#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"

namespace muster {

ReductionThread::~ReductionThread() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    state_ = State::kEnding;
    jobs_.clear();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

absl::Status ReductionThread::Start() {
  try {
    thread_ = std::thread([this] { Serve(); });
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no thread for reducing gradients: ", error.what()));
  }
  return absl::OkStatus();
}

void ReductionThread::Add(std::function<absl::Status()> job) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_.ok()) return;
    if (!thread_.joinable()) {
      failure_ = job();
      return;
    }
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
}

absl::Status ReductionThread::Drain() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock,
                [this] { return jobs_.empty() && state_ != State::kWorking; });
  return failure_;
}

Duration ReductionThread::busy() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return busy_;
}

void ReductionThread::Serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(
        lock, [this] { return !jobs_.empty() || state_ == State::kEnding; });
    if (state_ == State::kEnding) return;
    const std::function<absl::Status()> job = std::move(jobs_.front());
    jobs_.pop_front();
    state_ = State::kWorking;
    lock.unlock();
    const Instant begin = MonotonicNow();
    const absl::Status status = job();
    const Duration took = MonotonicNow() - begin;
    lock.lock();
    busy_ += took;
    if (state_ == State::kWorking) state_ = State::kIdle;
    if (!status.ok() && failure_.ok()) {
      failure_ = status;
      jobs_.clear();
    }
    changed_.notify_all();
  }
}

}  // namespace muster
