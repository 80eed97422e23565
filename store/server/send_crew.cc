#include "store/server/send_crew.h"

#include <sys/socket.h>

#include <algorithm>
#include <thread>

namespace muster::store {
namespace {

constexpr size_t kMaxThreads = 4;
// Number of jobs that a thread takes at once, to reduce contention for the
// shared counter.
constexpr size_t kJobsAtOnce = 8;

}  // namespace

SendCrew::~SendCrew() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
}

size_t SendCrew::HelpersForThisHost() {
  const size_t processors = std::thread::hardware_concurrency();
  return std::clamp<size_t>(processors, 1, kMaxThreads) - 1;
}

void SendCrew::SendAll(std::span<Job> jobs) {
  StartThreads();
  next_.store(0, std::memory_order_relaxed);
  if (!threads_.empty()) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      jobs_ = jobs;
      ++batch_;
    }
    changed_.notify_all();
  }
  Take(jobs);
  if (threads_.empty()) return;
  std::unique_lock<std::mutex> lock(mutex_);
  // Remove the jobs (each one sends data on one connection). A helper thread
  // may wake up only after the end of this batch, and must then find no jobs.
  jobs_ = {};
  changed_.wait(lock, [this] { return active_ == 0; });
}

void SendCrew::StartThreads() {
  if (started_) return;
  started_ = true;
  for (size_t i = 0; i < helpers_; ++i) {
    if (!threads_.emplace_back()
             .Start("muster-send", [this] { Help(); })
             .ok()) {
      threads_.pop_back();
      return;
    }
  }
}

void SendCrew::Help() {
  uint64_t done = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return over_ || batch_ != done; });
    if (over_) return;
    done = batch_;
    if (jobs_.empty()) continue;
    const std::span<Job> jobs = jobs_;
    ++active_;
    lock.unlock();
    Take(jobs);
    lock.lock();
    if (--active_ == 0) changed_.notify_all();
  }
}

void SendCrew::Take(std::span<Job> jobs) {
  while (true) {
    const size_t begin =
        next_.fetch_add(kJobsAtOnce, std::memory_order_relaxed);
    if (begin >= jobs.size()) return;
    for (Job& job :
         jobs.subspan(begin, std::min(kJobsAtOnce, jobs.size() - begin))) {
      job.sent = send(job.fd, job.bytes.data(), job.bytes.size(),
                      MSG_NOSIGNAL | MSG_DONTWAIT);
    }
  }
}

}  // namespace muster::store
