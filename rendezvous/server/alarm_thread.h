#ifndef MUSTER_RENDEZVOUS_SERVER_ALARM_THREAD_H_
#define MUSTER_RENDEZVOUS_SERVER_ALARM_THREAD_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

#include "base/time.h"

namespace muster {

// One thread that calls functions when their time has come, in the order of
// their times. There is no way to take one back: an alarm that is no longer
// wanted must find that out by itself.
//
// Thread-safe. The destructor drops what is not due yet, and returns once no
// call is under way.
class AlarmThread {
 public:
  AlarmThread();
  ~AlarmThread();

  AlarmThread(const AlarmThread&) = delete;
  AlarmThread& operator=(const AlarmThread&) = delete;

  // Calls `what` at `when` (MonotonicNow) or soon after, never from within
  // this call. `what` may set further alarms.
  void CallAt(Instant when, std::function<void()> what);

 private:
  struct Alarm {
    Instant when;
    uint64_t order;  // equal times: first set, first called
    std::function<void()> what;
    bool operator>(const Alarm& other) const {
      return when != other.when ? when > other.when : order > other.order;
    }
  };

  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::priority_queue<Alarm, std::vector<Alarm>, std::greater<>> alarms_;
  uint64_t set_ = 0;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_SERVER_ALARM_THREAD_H_
