#ifndef MUSTER_TRAINER_SDK_NETWORK_LOCAL_ADDRESS_H_
#define MUSTER_TRAINER_SDK_NETWORK_LOCAL_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"

namespace muster {

// How to find the address at which peers on other hosts reach this process.
struct LocalAddressOptions {
  // An interface ("eth0") or an address of this host. Takes precedence if set.
  std::string interface;
  // A host that all ranks reach, by name or address: the local address from
  // which this host reaches it is used. Empty: the loopback address.
  std::string reachable_host;
};

// Reads MUSTER_SOCKET_IFNAME, else GLOO_SOCKET_IFNAME, and MASTER_ADDR, the
// store's host.
LocalAddressOptions LocalAddressFromEnvironment();

// A numeric IPv4 or IPv6 address of this host. NotFound: none fits; the message
// lists the interfaces.
absl::StatusOr<std::string> LocalAddress(const LocalAddressOptions& options);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_LOCAL_ADDRESS_H_
