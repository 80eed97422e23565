#ifndef MUSTER_RENDEZVOUS_ENDPOINT_RESOLVE_H_
#define MUSTER_RENDEZVOUS_ENDPOINT_RESOLVE_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/endpoint/socket_address.h"

namespace muster::rendezvous {

// Returns all addresses of `endpoint`: IPv4 before IPv6 (where both work, IPv4
// needs no zone and is what other tools expect), otherwise in the resolver's
// order. Blocks: IP addresses are returned at once, names are resolved by the
// system within `timeout`. After `timeout`, or soon after `given_up` (if set)
// returns true, the look-up is abandoned and ends in the background.
//
// Unavailable: the name does not resolve (yet: while a cluster starts, it often
// does later). DeadlineExceeded: the resolver did not answer.
absl::StatusOr<std::vector<SocketAddress>> Resolve(
    const Endpoint& endpoint, Duration timeout,
    const std::function<bool()>& given_up = nullptr);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_ENDPOINT_RESOLVE_H_
