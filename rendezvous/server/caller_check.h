#ifndef MUSTER_RENDEZVOUS_SERVER_CALLER_CHECK_H_
#define MUSTER_RENDEZVOUS_SERVER_CALLER_CHECK_H_

#include <string>

namespace grpc {
class CallbackServerContext;
class Status;
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

// Authenticates callers by the job token; accepts every caller if there is
// none. Thread-safe.
class CallerCheck {
 public:
  // `token`: the job token; empty: every caller is accepted.
  explicit CallerCheck(std::string token) : token_(std::move(token)) {}

  // Whether callers need the job token.
  bool needs_token() const { return !token_.empty(); }

  // Returns OK or UNAUTHENTICATED. The comparison takes constant time.
  grpc::Status Check(const grpc::CallbackServerContext& context) const;

 private:
  const std::string token_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_CALLER_CHECK_H_
