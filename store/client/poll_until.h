#ifndef MUSTER_STORE_CLIENT_POLL_UNTIL_H_
#define MUSTER_STORE_CLIENT_POLL_UNTIL_H_

#include <poll.h>

#include "base/time.h"

namespace muster::store {

// Blocks until `fd` has one of `events` (POLLIN, POLLOUT), an error or a
// hang-up. Returns false if `deadline` (on the clock of MonotonicNow) passes
// first. If `deadline` has passed already, checks without waiting.
bool PollUntil(int fd, int events, Instant deadline);

}  // namespace muster::store

#endif  // MUSTER_STORE_CLIENT_POLL_UNTIL_H_
