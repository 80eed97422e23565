#ifndef MUSTER_TRAINER_SDK_NETWORK_LOCAL_ADDRESS_H_
#define MUSTER_TRAINER_SDK_NETWORK_LOCAL_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"

namespace muster {

// Where peers on other hosts reach this process.
struct LocalAddressOptions {
  // An interface ("eth0") or an address of this host. Wins if given.
  std::string interface;
  // A host that everybody reaches, by name or address: the address that this
  // host reaches it from is taken. Empty: the loopback address.
  std::string reachable_host;
};

// MUSTER_SOCKET_IFNAME, else GLOO_SOCKET_IFNAME; and MASTER_ADDR, the store's
// host.
LocalAddressOptions LocalAddressFromEnvironment();

// A numeric IPv4 or IPv6 address of this host. NotFound where there is none
// such; the message names the interfaces that there are.
absl::StatusOr<std::string> LocalAddress(const LocalAddressOptions& options);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_LOCAL_ADDRESS_H_
