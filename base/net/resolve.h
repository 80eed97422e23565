#ifndef MUSTER_BASE_NET_RESOLVE_H_
#define MUSTER_BASE_NET_RESOLVE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/net/socket_address.h"
#include "base/time.h"

namespace muster {

// A function that looks up the addresses of a host name. May block without
// limit. Unavailable: the name has no address.
using LookUp = std::function<absl::StatusOr<std::vector<SocketAddress>>(
    const std::string& host, int port)>;

// The LookUp that calls the system's resolver. The call may take half a minute
// if no name server answers.
absl::StatusOr<std::vector<SocketAddress>> SystemLookUp(const std::string& host,
                                                        int port);

struct ResolveLimits {
  Duration timeout = Duration::zero();
  // If set, Resolve calls given_up every 50 ms while it waits, and stops
  // waiting once given_up returns true.
  std::function<bool()> given_up = nullptr;
  LookUp look_up = SystemLookUp;
};

// Returns all addresses of `host`, at least one. IPv4 addresses come before
// IPv6 addresses, because IPv4 needs no zone, and because other tools expect
// this order. Otherwise the resolver's order is kept. An IP address is returned
// at once. A name is looked up within `limits`, and the caller blocks. A
// look-up that takes longer cannot be cancelled: it ends later, on a thread of
// its own, and its result is dropped.
//   Unavailable        the name does not resolve (while a cluster starts, a
//                      retry often succeeds)
//   DeadlineExceeded   the resolver did not answer in time
//   ResourceExhausted  no thread can be started
absl::StatusOr<std::vector<SocketAddress>> Resolve(const std::string& host,
                                                   int port,
                                                   ResolveLimits limits);

// A host name or IP address, and a port.
struct HostAndPort {
  std::string host;
  int port = 0;
};

// Like Resolve, for several names at the same time. A name that is not resolved
// in time does not delay the others. Blocks for at most `limits.timeout` plus
// 50 ms per name. The results have the order of `names`.
std::vector<absl::StatusOr<std::vector<SocketAddress>>> ResolveAll(
    const std::vector<HostAndPort>& names, ResolveLimits limits);

}  // namespace muster

#endif  // MUSTER_BASE_NET_RESOLVE_H_
