#ifndef MUSTER_RENDEZVOUS_ENDPOINT_ENDPOINT_H_
#define MUSTER_RENDEZVOUS_ENDPOINT_ENDPOINT_H_

#include <string>

#include "absl/status/statusor.h"

namespace muster::rendezvous {

// The default port of a coordinator; the same as torchrun's.
inline constexpr int kDefaultPort = 29400;

struct Endpoint {
  std::string host;  // a name or an address, without brackets
  int port = kDefaultPort;

  // Returns host:port, with brackets if the host is an IPv6 address.
  std::string ToString() const;

  bool operator==(const Endpoint&) const = default;
};

// Parses host, host:port, [v6], [v6]:port or a bare IPv6 address.
// InvalidArgument: `text` is malformed; the message says how.
absl::StatusOr<Endpoint> ParseEndpoint(const std::string& text);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_ENDPOINT_ENDPOINT_H_
