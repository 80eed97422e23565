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

// The number of simultaneous connections from unidentified callers that are
// accepted in addition to those of the group's ranks.
inline constexpr int kStrangers = 64;

// Accepts connections of the ranks above `own.rank` at `listener`, which must
// be non-blocking, and exchanges greetings, until each of them has a socket in
// `sockets`. There must be at least one such rank. Blocks until `deadline` at
// most. Unidentified callers are handled concurrently, for a few seconds each.
// `next` watches the next rank until that rank has connected. So a rank that
// dies before it has connected to all lower ranks is detected by one of them:
// the rank to which it would connect last.
//
//   DeadlineExceeded   ranks without a socket did not connect
//   ResourceExhausted  no descriptor is left for a connection
//   Unavailable        the listener failed, or the next rank has died
//   any other          the cause for which `place`'s formation was given up
absl::Status ReceiveRanks(const GroupPlace& place, int listener,
                          const Hello& own, Instant deadline,
                          ListenerWatch& next, std::vector<OwnedFd>& sockets);

// Milliseconds for poll: one minute at most, so that a missed wake-up does no
// harm.
int PollTime(Duration left);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_RECEPTION_H_
