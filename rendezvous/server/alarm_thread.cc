#include "rendezvous/server/alarm_thread.h"

#include <utility>

#include "base/monotonic_clock.h"

namespace muster::rendezvous {

AlarmThread::AlarmThread() : thread_([this] { Run(); }) {}

AlarmThread::~AlarmThread() { Stop(); }

void AlarmThread::Stop() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void AlarmThread::CallAt(Instant when, std::function<void()> what) {
  bool is_next;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    is_next = alarms_.empty() || when < alarms_.top().when;
    alarms_.push({when, ++set_, std::move(what)});
  }
  if (is_next) changed_.notify_one();
}

void AlarmThread::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ending_) {
    if (alarms_.empty()) {
      changed_.wait(lock);
      continue;
    }
    if (alarms_.top().when > MonotonicNow()) {
      changed_.wait_until(lock, ToSteady(alarms_.top().when));
      continue;
    }
    const std::function<void()> what = alarms_.top().what;
    alarms_.pop();
    lock.unlock();
    what();
    lock.lock();
  }
}

}  // namespace muster::rendezvous
