#ifndef MUSTER_TESTS_SIMULATION_EVENT_QUEUE_H_
#define MUSTER_TESTS_SIMULATION_EVENT_QUEUE_H_

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "base/time.h"

namespace muster::simulation {

// Simulated time. If several events are due at the same time, they happen in
// the order in which they were scheduled. So a seed always gives the same
// trace.
class EventQueue {
 public:
  Instant now() const { return now_; }
  void At(Instant when, std::function<void()> what);
  void In(Duration delay, std::function<void()> what) {
    At(now_ + delay, std::move(what));
  }
  // Performs all events that are due until `end`, or until `stop` returns true.
  void RunUntil(Instant end, const std::function<bool()>& stop);
  uint64_t performed() const { return performed_; }

 private:
  struct Entry {
    Instant when;
    uint64_t order;
    std::function<void()> what;
    // reversed order, since a priority queue returns the largest entry first
    bool operator<(const Entry& other) const {
      return when != other.when ? when > other.when : order > other.order;
    }
  };
  Instant now_{std::chrono::hours(1)};
  uint64_t next_order_ = 0;
  uint64_t performed_ = 0;
  std::priority_queue<Entry> entries_;
};

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_EVENT_QUEUE_H_
