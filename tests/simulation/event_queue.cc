#include "tests/simulation/event_queue.h"

#include <algorithm>
#include <utility>

namespace muster::simulation {

void EventQueue::At(Instant when, std::function<void()> what) {
  entries_.push({std::max(when, now_), next_order_++, std::move(what)});
}

void EventQueue::RunUntil(Instant end, const std::function<bool()>& stop) {
  while (!entries_.empty() && entries_.top().when <= end && !stop()) {
    Entry entry = entries_.top();
    entries_.pop();
    now_ = entry.when;
    ++performed_;
    entry.what();
  }
  if (!stop()) now_ = std::max(now_, end);
}

}  // namespace muster::simulation
