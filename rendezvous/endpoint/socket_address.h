#ifndef MUSTER_RENDEZVOUS_ENDPOINT_SOCKET_ADDRESS_H_
#define MUSTER_RENDEZVOUS_ENDPOINT_SOCKET_ADDRESS_H_

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

namespace muster {

// An IPv4 or IPv6 address with a port.
struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;

  const sockaddr* get() const {
    return reinterpret_cast<const sockaddr*>(&storage);
  }
  // The address alone, as peers write it: 10.0.0.7, fe80::1%eth0.
  std::string Ip() const;
  int Port() const;
  // As gRPC's "ipv4:" and "ipv6:" schemes take it; no name is looked up.
  std::string GrpcTarget() const;
};

// The local IP address that packets to `peer` go out from, hence the one that
// hosts on that side can answer to; empty if there is no route. Sends nothing.
std::string LocalAddressTowards(const SocketAddress& peer);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_ENDPOINT_SOCKET_ADDRESS_H_
