#ifndef MUSTER_RENDEZVOUS_SERVER_CALLER_CHECK_H_
#define MUSTER_RENDEZVOUS_SERVER_CALLER_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "rendezvous/tls/principal.h"

namespace grpc {
class CallbackServerContext;
}  // namespace grpc

namespace muster::rendezvous {

// Extracts the IP address of a peer's name in gRPC: "10.0.0.7" from
// "ipv4:10.0.0.7:4711", "fe80::1" from "ipv6:%5Bfe80::1%5D:4711" or
// "ipv6:[fe80::1]:4711". An IPv4-mapped IPv6 address yields the IPv4 address.
// Empty if the peer has no IP address, such as a Unix socket. Pure.
std::string PeerIp(const std::string& peer);

// A name of the peer's socket that is the same for all spellings of its
// address: PeerIp without a zone, and the port. Empty if the peer has no IP
// address. Pure.
std::string PeerKey(const std::string& peer);

// Identifies callers by what TLS has found out and, where certificates
// come from files, by the job token as well. Thread-safe.
class CallerCheck {
 public:
  // `bearers`: every call must carry one of these tokens; none: the connection
  // alone says who calls.
  explicit CallerCheck(std::vector<std::string> bearers)
      : bearers_(std::move(bearers)) {}

  // Who calls. A connection without TLS yields a nameless principal with all
  // roles. Unauthenticated: the token is missing or wrong; the comparison takes
  // constant time.
  absl::StatusOr<Principal> Identify(
      const grpc::CallbackServerContext& context) const;

 private:
  const std::vector<std::string> bearers_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_CALLER_CHECK_H_
