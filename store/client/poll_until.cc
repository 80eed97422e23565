#include "store/client/poll_until.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>

#include "base/monotonic_clock.h"

namespace muster::store {

bool PollUntil(int fd, int events, Instant deadline) {
  pollfd poll = {
      .fd = fd, .events = static_cast<int16_t>(events), .revents = 0};
  while (true) {
    const Instant now = MonotonicNow();
    const Duration left = std::max(deadline - now, Duration::zero());
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec wait = {.tv_sec = seconds.count(),
                           .tv_nsec = (left - seconds).count()};
    // Errors of ppoll itself are ignored: using the descriptor will reveal
    // them.
    const int ready = ppoll(&poll, 1, &wait, nullptr);
    if (ready > 0) return true;
    if (left == Duration::zero()) return false;
  }
}

}  // namespace muster::store
