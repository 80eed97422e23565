#ifndef MUSTER_RENDEZVOUS_SERVER_PEER_IP_H_
#define MUSTER_RENDEZVOUS_SERVER_PEER_IP_H_

#include <string>

namespace muster::rendezvous {

// Extracts the IP address of a peer's name in gRPC: "10.0.0.7" from
// "ipv4:10.0.0.7:4711", "fe80::1" from "ipv6:%5Bfe80::1%5D:4711" or
// "ipv6:[fe80::1]:4711". An IPv4-mapped IPv6 address yields the IPv4 address.
// Empty if the peer has no IP address, such as a Unix socket. Pure.
std::string PeerIp(const std::string& peer);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_PEER_IP_H_
