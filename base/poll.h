#ifndef MUSTER_BASE_POLL_H_
#define MUSTER_BASE_POLL_H_

#include <poll.h>

#include <span>

#include "base/time.h"

namespace muster {

// Functions that wait until a deadline, some of them also for events on
// descriptors. Only such an event ends a wait before its deadline; a signal
// does not. A deadline is a time of the clock that MonotonicNow reads. Any
// thread may call these functions.

// The deadline of a wait without a time limit: only an event ends the wait.
inline constexpr Instant kNoDeadline = Instant::max();

// The deadline of a call that polls once and does not wait. Every deadline in
// the past has this effect.
inline constexpr Instant kAtOnce = Instant::min();

// Waits until one of `fds` has one of its `events`, an error or a hang-up. Sets
// every `revents`. Returns the number of descriptors with an event; 0 at
// `deadline`. Negative descriptors are ignored.
int PollUntil(std::span<pollfd> fds, Instant deadline);

// PollUntil for one descriptor. Returns false at `deadline`.
bool PollUntil(int fd, short events, Instant deadline);

// Blocks the calling thread until `deadline`.
void PauseUntil(Instant deadline);

}  // namespace muster

#endif  // MUSTER_BASE_POLL_H_
