#ifndef MUSTER_TRAINER_SDK_NETWORK_LOCAL_ADDRESS_H_
#define MUSTER_TRAINER_SDK_NETWORK_LOCAL_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"

namespace muster {

// Options for finding the address at which peers on other hosts reach this
// process.
struct LocalAddressOptions {
  // The name ("eth0") or an address of a network interface of this host. If
  // set, LocalAddress returns an address of this interface and ignores
  // `reachable_host`.
  std::string interface;
  // The name or address of a host that all ranks can reach. LocalAddress
  // returns the address from which this host reaches that host. Empty:
  // LocalAddress returns the loopback address.
  std::string reachable_host;
};

// Reads the options from environment variables. `interface` is
// MUSTER_SOCKET_IFNAME or, if that is not set, GLOO_SOCKET_IFNAME.
// `reachable_host` is MASTER_ADDR, the host of the store. If the agent of this
// host relays the store, MASTER_ADDR is a loopback address. `reachable_host` is
// then MUSTER_NODE_ADDRESS, if that is set.
LocalAddressOptions LocalAddressFromEnvironment();

// Finds the address of this host that `options` describe, as a numeric IPv4 or
// IPv6 address. NotFound: no address fits; the message says why.
absl::StatusOr<std::string> LocalAddress(const LocalAddressOptions& options);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_LOCAL_ADDRESS_H_
