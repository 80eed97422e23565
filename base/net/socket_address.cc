#include "base/net/socket_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/owned_fd.h"

namespace muster {
namespace {

std::string AddressText(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    inet_ntop(AF_INET, &v4->sin_addr, text, sizeof(text));
  } else if (address->sa_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
    inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof(text));
  }
  return text;
}

}  // namespace

std::string SocketAddress::Ip() const {
  char host[NI_MAXHOST];
  if (getnameinfo(get(), size, host, sizeof(host), nullptr, 0,
                  NI_NUMERICHOST) != 0) {
    return "";
  }
  return host;
}

int SocketAddress::Port() const {
  if (family() == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
}

std::string SocketAddress::Uri() const {
  std::string ip = Ip();
  if (family() != AF_INET6) return absl::StrCat("ipv4:", ip, ":", Port());
  // A percent sign separates the zone of a link-local address; in a URI it must
  // be written %25.
  const size_t zone = ip.find('%');
  if (zone != std::string::npos) ip.replace(zone, 1, "%25");
  return absl::StrCat("ipv6:%5B", ip, "%5D:", Port());
}

std::optional<SocketAddress> NumericAddress(const std::string& ip, int port) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(ip.c_str(), std::to_string(port).c_str(), &hints, &found) !=
      0) {
    return std::nullopt;
  }
  SocketAddress address;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  address.size = found->ai_addrlen;
  freeaddrinfo(found);
  return address;
}

std::optional<SocketAddress> BoundAddress(int fd) {
  SocketAddress address;
  address.size = sizeof(address.storage);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage),
                  &address.size) != 0) {
    return std::nullopt;
  }
  return address;
}

std::string NetworkOf(const SocketAddress& address) {
  if (address.family() != AF_INET6) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address.storage);
    return std::string(reinterpret_cast<const char*>(&v4->sin_addr), 4);
  }
  const in6_addr& ip =
      reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_addr;
  const char* bytes = reinterpret_cast<const char*>(&ip);
  return IN6_IS_ADDR_V4MAPPED(&ip) ? std::string(bytes + 12, 4)
                                   : std::string(bytes, 8);
}

std::string HostPort(const std::string& host, int port) {
  return host.find(':') == std::string::npos
             ? absl::StrCat(host, ":", port)
             : absl::StrCat("[", host, "]:", port);
}

std::string LocalAddressTowards(const SocketAddress& peer) {
  const OwnedFd fd(
      socket(peer.family(), SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP));
  if (connect(fd.get(), peer.get(), peer.size) != 0) return "";
  const std::optional<SocketAddress> local = BoundAddress(fd.get());
  return local.has_value() ? local->Ip() : "";
}

std::string OutwardAddress() {
  // Find the local address from which packets to the Internet are sent. These
  // destinations are reserved for documentation (RFC 5737, RFC 3849), so no
  // host has them, and the kernel selects the default route. No packet is sent.
  for (const char* nobody : {"192.0.2.1", "2001:db8::1"}) {
    std::string own = LocalAddressTowards(*NumericAddress(nobody, 9));
    if (!own.empty()) return own;
  }
  return "";
}

std::vector<std::string> InterfaceAddresses() {
  std::vector<std::string> addresses;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return addresses;
  size_t of_loopback = 0;
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || (at->ifa_flags & IFF_UP) == 0) continue;
    const std::string text = AddressText(at->ifa_addr);
    if (text.empty()) continue;
    const bool first = (at->ifa_flags & IFF_LOOPBACK) != 0;
    addresses.insert(first
                         ? addresses.begin() + static_cast<long>(of_loopback++)
                         : addresses.end(),
                     text);
  }
  freeifaddrs(list);
  return addresses;
}

}  // namespace muster
