#ifndef MUSTER_TRAINER_SDK_NETWORK_LOCAL_ADDRESS_H_
#define MUSTER_TRAINER_SDK_NETWORK_LOCAL_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"

namespace muster {

// How to find the address at which peers on other hosts reach this process.
struct LocalAddressOptions {
  // An interface ("eth0") or an address of this host. If set, `reachable_host`
  // is ignored.
  std::string interface;
  // A host that all ranks can reach, by name or address. This host's local
  // address on the route to it is used. Empty: the loopback address is used.
  std::string reachable_host;
};

// Reads the options: `interface` from MUSTER_SOCKET_IFNAME, else
// GLOO_SOCKET_IFNAME; `reachable_host` from MASTER_ADDR, the host of the store,
// or from MUSTER_NODE_ADDRESS if MASTER_ADDR is a relay on this host.
LocalAddressOptions LocalAddressFromEnvironment();

// A numeric IPv4 or IPv6 address of this host. NotFound: no address fits; the
// message lists the interfaces.
absl::StatusOr<std::string> LocalAddress(const LocalAddressOptions& options);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_LOCAL_ADDRESS_H_
