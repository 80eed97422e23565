#ifndef MUSTER_RENDEZVOUS_ENDPOINT_RESOLVE_H_
#define MUSTER_RENDEZVOUS_ENDPOINT_RESOLVE_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/endpoint/socket_address.h"

namespace muster {

// Every address of `endpoint`, IPv4 before IPv6 (where both work, the former
// needs no zone and is what peers' tools expect), else in the resolver's order.
// Addresses are answered at once, names by the system's resolver, within
// `timeout`; after it, or soon after `given_up` (if any) says so, the look-up
// is left to end by itself.
//
// Unavailable: the name does not resolve (yet: in a cluster that is starting,
// it often does later). DeadlineExceeded: the resolver did not answer.
absl::StatusOr<std::vector<SocketAddress>> Resolve(
    const Endpoint& endpoint, Duration timeout,
    const std::function<bool()>& given_up = nullptr);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_ENDPOINT_RESOLVE_H_
