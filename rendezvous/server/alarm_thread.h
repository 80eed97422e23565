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

namespace muster::rendezvous {

// A thread that calls functions at given times, in the order of these times. An
// alarm cannot be cancelled: the function of an alarm must check whether its
// action is still needed.
//
// Thread-safe. The destructor calls Stop.
class AlarmThread {
 public:
  AlarmThread();
  ~AlarmThread();

  AlarmThread(const AlarmThread&) = delete;
  AlarmThread& operator=(const AlarmThread&) = delete;

  // Calls `what` on the thread at `when` (MonotonicNow's clock) or soon after.
  // Never calls it from within CallAt. `what` may set further alarms.
  void CallAt(Instant when, std::function<void()> what);
  // Drops the alarms that are not due yet. If a function is running, waits
  // until it has returned. Alarms that are set later are never called. The
  // thread itself must not call Stop.
  void Stop();

 private:
  struct Alarm {
    Instant when;
    uint64_t order;  // number of the CallAt call; sorts alarms of equal times
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

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_ALARM_THREAD_H_
