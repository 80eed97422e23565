#include "launcher/ssh/poll_wait.h"

#include <algorithm>
#include <ctime>

#include "base/monotonic_clock.h"

namespace muster::launcher {

void WaitForAny(std::vector<pollfd>& polls, std::optional<Instant> until) {
  timespec left = {};
  if (until) {
    const auto ns = std::max(*until - MonotonicNow(), Duration::zero()).count();
    left.tv_sec = ns / 1'000'000'000;
    left.tv_nsec = ns % 1'000'000'000;
  }
  ppoll(polls.data(), polls.size(), until ? &left : nullptr, nullptr);
}

}  // namespace muster::launcher
