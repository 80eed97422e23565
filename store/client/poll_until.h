#ifndef MUSTER_STORE_CLIENT_POLL_UNTIL_H_
#define MUSTER_STORE_CLIENT_POLL_UNTIL_H_

#include <poll.h>

#include "base/time.h"

namespace muster {

// Waits until `fd` has one of `events` (POLLIN, POLLOUT), an error or a
// hang-up; false where `deadline` (on MonotonicNow's clock) passes first. A
// deadline in the past asks without waiting.
bool PollUntil(int fd, int events, Instant deadline);

}  // namespace muster

#endif  // MUSTER_STORE_CLIENT_POLL_UNTIL_H_
