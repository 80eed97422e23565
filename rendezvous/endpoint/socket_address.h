#ifndef MUSTER_RENDEZVOUS_ENDPOINT_SOCKET_ADDRESS_H_
#define MUSTER_RENDEZVOUS_ENDPOINT_SOCKET_ADDRESS_H_

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

namespace muster::rendezvous {

// An IPv4 or IPv6 address with a port.
struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;

  const sockaddr* get() const {
    return reinterpret_cast<const sockaddr*>(&storage);
  }
  // The address without the port, as text: 10.0.0.7, fe80::1%eth0.
  std::string Ip() const;
  int Port() const;
  // The address for gRPC's "ipv4:" and "ipv6:" schemes, which need no name
  // look-up.
  std::string GrpcTarget() const;
};

// Returns the local IP address from which packets to `peer` are sent, so hosts
// on that side can reach it; empty if there is no route. Sends no packet.
std::string LocalAddressTowards(const SocketAddress& peer);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_ENDPOINT_SOCKET_ADDRESS_H_
