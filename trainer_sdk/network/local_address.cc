#include "trainer_sdk/network/local_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/environment_value.h"
#include "base/net/resolve.h"
#include "base/net/socket_address.h"
#include "base/time.h"

namespace muster {
namespace {

// The timeout for resolving a host name; it expires if a name server does not
// answer.
constexpr Duration kResolveTimeout = std::chrono::seconds(30);

std::string Numeric(const sockaddr* address, socklen_t length) {
  std::array<char, NI_MAXHOST> text{};
  const int rc = getnameinfo(address, length, text.data(), text.size(), nullptr,
                             0, NI_NUMERICHOST);
  return rc == 0 ? text.data() : "";
}

socklen_t LengthOf(const sockaddr* address) {
  return address->sa_family == AF_INET ? sizeof(sockaddr_in)
                                       : sizeof(sockaddr_in6);
}

// Returns an address of the interface whose name or address is `wanted`,
// preferably IPv4.
absl::StatusOr<std::string> OfInterface(const std::string& wanted) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    return absl::InternalError(
        absl::StrCat("getifaddrs: ", std::strerror(errno)));
  }
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owned(list, freeifaddrs);
  std::set<std::string> names;
  std::string ipv6;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0) continue;
    const int family = one->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    names.insert(one->ifa_name);
    const std::string address = Numeric(one->ifa_addr, LengthOf(one->ifa_addr));
    if (address == wanted) return address;
    if (one->ifa_name != wanted) continue;
    if (family == AF_INET) return address;
    if (ipv6.empty()) ipv6 = address;
  }
  if (!ipv6.empty()) return ipv6;
  return absl::NotFoundError(absl::StrCat(
      "no interface '", wanted, "' with an address is up on this host; up are ",
      absl::StrJoin(names, ", "),
      ". Set MUSTER_SOCKET_IFNAME to one of them."));
}

// Returns the first IPv4 address of this host that is not a loopback address;
// empty if there is none.
std::string FirstOutside() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return "";
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owned(list, freeifaddrs);
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET ||
        (one->ifa_flags & IFF_UP) == 0 ||
        (one->ifa_flags & IFF_LOOPBACK) != 0) {
      continue;
    }
    return Numeric(one->ifa_addr, LengthOf(one->ifa_addr));
  }
  return "";
}

// Returns the local address that a datagram to `host` would have as its source.
// No datagram is sent.
absl::StatusOr<std::string> TowardsHost(const std::string& host) {
  const absl::StatusOr<std::vector<SocketAddress>> addresses =
      Resolve(host, 9, {.timeout = kResolveTimeout});
  if (!addresses.ok()) {
    return absl::NotFoundError(addresses.status().message());
  }
  for (const SocketAddress& address : *addresses) {
    const std::string own = LocalAddressTowards(address);
    if (own.empty()) continue;
    // `host` may be a name of this host itself, for which Debian's /etc/hosts
    // has a loopback address. Other hosts cannot reach a loopback address, so
    // take another address of this host.
    const bool own_name = IsLoopback(own) && !IsLoopback(host);
    const std::string outside = own_name ? FirstOutside() : "";
    return outside.empty() ? own : outside;
  }
  return absl::NotFoundError(absl::StrCat(
      "no way to host '", host,
      "' from here. Set MUSTER_SOCKET_IFNAME to the interface to use."));
}

}  // namespace

LocalAddressOptions LocalAddressFromEnvironment() {
  LocalAddressOptions options;
  options.interface = EnvironmentVariable("MUSTER_SOCKET_IFNAME");
  if (options.interface.empty()) {
    options.interface = EnvironmentVariable("GLOO_SOCKET_IFNAME");
  }
  options.reachable_host = EnvironmentVariable("MASTER_ADDR");
  // If the agent relays the store, MASTER_ADDR is a loopback address on every
  // node. Use the node's own address instead.
  const std::string own = EnvironmentVariable("MUSTER_NODE_ADDRESS");
  if (IsLoopback(options.reachable_host) && !own.empty()) {
    options.reachable_host = own;
  }
  return options;
}

absl::StatusOr<std::string> LocalAddress(const LocalAddressOptions& options) {
  if (!options.interface.empty()) return OfInterface(options.interface);
  if (!options.reachable_host.empty()) {
    return TowardsHost(options.reachable_host);
  }
  return std::string("127.0.0.1");
}

}  // namespace muster
