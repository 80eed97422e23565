#ifndef MUSTER_STORE_RELAY_UPSTREAM_CONNECTION_H_
#define MUSTER_STORE_RELAY_UPSTREAM_CONNECTION_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "store/relay/resolve_host.h"

namespace muster {

// Until when the first of `turns` may try that share the time from `now` to
// `deadline`: what it leaves is the others'. Pure.
Instant ShareOf(Instant deadline, Instant now, size_t turns);

// A non-blocking connection to a StoreServer that has agreed to speak relay
// frames. Tries every address, each within its share of the time, so that one
// which a black hole swallows leaves time for the next; and again until
// `deadline` (MonotonicNow's clock) while they refuse.
//   Unavailable         refused or unreachable until the deadline; the last
//                       error
//   DeadlineExceeded    connected, and no answer came
//   FailedPrecondition  what answers takes no relay of our version
absl::StatusOr<OwnedFd> ConnectUpstream(
    const std::vector<HostAddress>& addresses, Instant deadline);

}  // namespace muster

#endif  // MUSTER_STORE_RELAY_UPSTREAM_CONNECTION_H_
