#ifndef MUSTER_RENDEZVOUS_SERVER_PEER_IP_H_
#define MUSTER_RENDEZVOUS_SERVER_PEER_IP_H_

#include <string>

namespace muster {

// The IP address in gRPC's name of a peer, as people write it: "10.0.0.7" of
// "ipv4:10.0.0.7:4711", "fe80::1" of "ipv6:%5Bfe80::1%5D:4711" or
// "ipv6:[fe80::1]:4711"; an IPv4 address inside an IPv6 one alone. Empty where
// it is none, as of a Unix socket. Pure.
std::string PeerIp(const std::string& peer);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_SERVER_PEER_IP_H_
