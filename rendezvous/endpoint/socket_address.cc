#include "rendezvous/endpoint/socket_address.h"

#include <netdb.h>
#include <unistd.h>

#include <cstdio>

namespace muster::rendezvous {

std::string SocketAddress::Ip() const {
  char host[NI_MAXHOST];
  if (getnameinfo(get(), size, host, sizeof(host), nullptr, 0,
                  NI_NUMERICHOST) != 0) {
    return "";
  }
  return host;
}

int SocketAddress::Port() const {
  if (storage.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
}

std::string SocketAddress::GrpcTarget() const {
  const std::string port = std::to_string(Port());
  if (storage.ss_family != AF_INET6) return "ipv4:" + Ip() + ":" + port;
  // A percent sign separates the zone of a link-local address; in a URI it must
  // be written %25.
  std::string ip = Ip();
  const size_t zone = ip.find('%');
  if (zone != std::string::npos) ip.replace(zone, 1, "%25");
  return "ipv6:%5B" + ip + "%5D:" + port;
}

std::string LocalAddressTowards(const SocketAddress& peer) {
  const int fd =
      socket(peer.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP);
  if (fd < 0) return "";
  SocketAddress local;
  local.size = sizeof(local.storage);
  const bool known =
      connect(fd, peer.get(), peer.size) == 0 &&
      getsockname(fd, reinterpret_cast<sockaddr*>(&local.storage),
                  &local.size) == 0;
  close(fd);
  return known ? local.Ip() : "";
}

}  // namespace muster::rendezvous
