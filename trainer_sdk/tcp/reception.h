#ifndef MUSTER_TRAINER_SDK_TCP_RECEPTION_H_
#define MUSTER_TRAINER_SDK_TCP_RECEPTION_H_

#include <vector>

#include "absl/status/status.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "trainer_sdk/process_group/transport.h"
#include "trainer_sdk/tcp/hello.h"
#include "trainer_sdk/tcp/listener_watch.h"

namespace muster {

// How many callers may have a connection without having said who they are,
// besides the group's ranks.
inline constexpr int kStrangers = 64;

// Takes the calls of the ranks above `own.rank` at `listener`, which does not
// block, until each of them has a socket in `sockets`, and greets them; there
// is one at least. Strangers are heard side by side with them, each for a few
// seconds at most. `next` watches the next rank until that has called. So each
// rank that has not called all those below it, and ends, is found by one: whom
// it calls last.
//
//   DeadlineExceeded   those that have no socket yet did not call
//   ResourceExhausted  no descriptor is left for a call
//   Unavailable        the listener failed, or the next rank has died
//   any other          the cause for which `place`'s formation is given up
absl::Status ReceiveRanks(const GroupPlace& place, int listener,
                          const Hello& own, Instant deadline,
                          ListenerWatch& next, std::vector<OwnedFd>& sockets);

// For poll: a minute at most, so that a missed wake-up is made good.
int PollTime(Duration left);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_RECEPTION_H_
