#ifndef MUSTER_STORE_RELAY_UPSTREAM_CONNECTION_H_
#define MUSTER_STORE_RELAY_UPSTREAM_CONNECTION_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/net/socket_address.h"
#include "base/owned_fd.h"
#include "base/time.h"

namespace muster::store {

// Returns a non-blocking connection to a StoreServer that has agreed to relay
// frames. Tries every address, each within its share of the time, so that an
// address that drops all packets leaves time for the next; if they refuse,
// retries until `deadline` (on the clock of MonotonicNow). Blocks.
//   Unavailable         refused or unreachable until the deadline; has the last
//                       error
//   DeadlineExceeded    connected, but no answer arrived
//   FailedPrecondition  the peer does not accept relays of this version
absl::StatusOr<OwnedFd> ConnectUpstream(
    const std::vector<SocketAddress>& addresses, Instant deadline);

}  // namespace muster::store

#endif  // MUSTER_STORE_RELAY_UPSTREAM_CONNECTION_H_
