#ifndef MUSTER_TRAINER_SDK_NETWORK_LOCAL_ADDRESS_H_
#define MUSTER_TRAINER_SDK_NETWORK_LOCAL_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"

namespace muster {

// Options for finding the address at which peers on other hosts reach this
// process.
struct LocalAddressOptions {
  // A network interface ("eth0") or an address of this host. If set,
  // `reachable_host` is ignored.
  std::string interface;
  // The name or address of a host that all ranks can reach. The result is this
  // host's local address on the route to it. Empty: the loopback address.
  std::string reachable_host;
};

// Reads the options from the environment. `interface`: MUSTER_SOCKET_IFNAME,
// else GLOO_SOCKET_IFNAME. `reachable_host`: MASTER_ADDR, the host of the
// store; if that is a relay on this host, MUSTER_NODE_ADDRESS.
LocalAddressOptions LocalAddressFromEnvironment();

// Finds the address of this host that `options` describe, as a numeric IPv4 or
// IPv6 address. NotFound: no address fits; the message lists the interfaces.
absl::StatusOr<std::string> LocalAddress(const LocalAddressOptions& options);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_LOCAL_ADDRESS_H_
