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

// Extracts the IP address from a gRPC peer name: "10.0.0.7" from
// "ipv4:10.0.0.7:4711", "fe80::1" from "ipv6:%5Bfe80::1%5D:4711" or
// "ipv6:[fe80::1]:4711". For an IPv4-mapped IPv6 address returns the IPv4
// address. Empty if the peer has no IP address, such as a Unix socket. Pure.
std::string PeerIp(const std::string& peer);

// Returns one name for all spellings of the address of the peer's socket: the
// result of PeerIp without a zone, and the port. Empty if the peer has no IP
// address. Pure.
std::string PeerKey(const std::string& peer);

// Checks the job token of a call, if tokens are required, and identifies the
// caller by its TLS certificate. Thread-safe.
class CallerCheck {
 public:
  // `bearers`: every call must carry one of these tokens; empty: calls need no
  // token.
  explicit CallerCheck(std::vector<std::string> bearers)
      : bearers_(std::move(bearers)) {}

  // Returns the caller. If there is no TLS, this is a principal without a name
  // and with all roles. Unauthenticated: the token is missing or wrong. The
  // token is compared in constant time.
  absl::StatusOr<Principal> Identify(
      const grpc::CallbackServerContext& context) const;

 private:
  const std::vector<std::string> bearers_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_CALLER_CHECK_H_
