#ifndef MUSTER_STORE_SERVER_TICK_TIMER_H_
#define MUSTER_STORE_SERVER_TICK_TIMER_H_

#include <algorithm>
#include <chrono>

#include "base/time.h"

namespace muster::store {

// A timer for a periodic action. Pure.
class TickTimer {
 public:
  explicit TickTimer(std::chrono::milliseconds period) : period_(period) {}

  // Time until the next tick, rounded up to whole milliseconds.
  std::chrono::milliseconds Left(Instant now) const {
    return std::max(std::chrono::milliseconds(0),
                    std::chrono::ceil<std::chrono::milliseconds>(next_ - now));
  }

  // Returns whether a tick is due. If so, the next one is due `period` after
  // `now`.
  bool Take(Instant now) {
    if (now < next_) return false;
    next_ = now + period_;
    return true;
  }

 private:
  const std::chrono::milliseconds period_;
  Instant next_;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_TICK_TIMER_H_
