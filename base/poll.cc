#include "base/poll.h"

#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/monotonic_clock.h"
#include "base/time.h"

namespace muster {
namespace {

timespec TimeLeft(Instant deadline) {
  const Instant now = MonotonicNow();
  return ToTimespec(deadline > now ? deadline - now : Duration::zero());
}

}  // namespace

int PollUntil(std::span<pollfd> fds, Instant deadline) {
  while (true) {
    // Use ppoll, which takes the remaining time in nanoseconds. poll takes
    // milliseconds, to which the time would have to be rounded.
    const timespec left = TimeLeft(deadline);
    const int ready = ppoll(fds.data(), fds.size(),
                            deadline == kNoDeadline ? nullptr : &left, nullptr);
    if (ready > 0) return ready;
    if (ready == 0 && MonotonicNow() >= deadline) return 0;
    // Any errno other than EINTR and ENOMEM means that an argument of ppoll is
    // invalid, which is a bug.
    MUSTER_CHECK(ready == 0 || errno == EINTR || errno == ENOMEM)
        << "poll: " << std::strerror(errno);
  }
}

bool PollUntil(int fd, short events, Instant deadline) {
  pollfd one = {.fd = fd, .events = events, .revents = 0};
  return PollUntil(std::span(&one, 1), deadline) > 0;
}

void PauseUntil(Instant deadline) { PollUntil({}, deadline); }

}  // namespace muster
