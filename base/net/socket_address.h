#ifndef MUSTER_BASE_NET_SOCKET_ADDRESS_H_
#define MUSTER_BASE_NET_SOCKET_ADDRESS_H_

#include <sys/socket.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// An IPv4 or IPv6 address with a port.
struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;

  int family() const { return storage.ss_family; }
  const sockaddr* get() const {
    return reinterpret_cast<const sockaddr*>(&storage);
  }
  // Formats the address without the port: 10.0.0.7, fe80::1%eth0.
  std::string Ip() const;
  int Port() const;
  // The address in the form of gRPC's targets, which need no name look-up:
  // ipv4:10.0.0.7:80, ipv6:%5Bfe80::1%25eth0%5D:80.
  std::string Uri() const;
};

// Parses an IP address; nullopt if `ip` is not one, for example a host name.
std::optional<SocketAddress> NumericAddress(const std::string& ip, int port);

// Returns the address to which the socket `fd` is bound, with the port that the
// kernel chose. nullopt with errno: `fd` is not a socket.
std::optional<SocketAddress> BoundAddress(int fd);

// Returns the network of a peer's address, for limits on the number of
// connections per peer. For IPv4, also if mapped into IPv6, this is the whole
// address. For IPv6 it is the first 64 bits, because one host may have any
// number of addresses with these bits. The result is not readable text.
std::string NetworkOf(const SocketAddress& address);

// Formats "host:port", with brackets around an IPv6 address.
std::string HostPort(const std::string& host, int port);

// Returns the local IP address from which packets to `peer` are sent. Hosts in
// the network of `peer` can reach this host at that address. Empty if there is
// no route. Sends no packet.
std::string LocalAddressTowards(const SocketAddress& peer);

// Returns the local IP address from which packets leave for other networks;
// empty if there is no route.
std::string OutwardAddress();

// Returns the IP addresses of this host's interfaces that are up, without
// zones. The addresses of the loopback interface come first. Empty if the
// addresses cannot be read.
std::vector<std::string> InterfaceAddresses();

// Whether the text `host` names the loopback interface: an address in
// 127.0.0.0/8, ::1, or "localhost". A name such as "127.example.com" does not.
inline bool IsLoopback(std::string_view host) {
  const bool is_numeric =
      host.find_first_not_of("0123456789.") == std::string_view::npos;
  return (host.substr(0, 4) == "127." && is_numeric) || host == "::1" ||
         host == "localhost";
}

}  // namespace muster

#endif  // MUSTER_BASE_NET_SOCKET_ADDRESS_H_
