#ifndef MUSTER_RENDEZVOUS_ENDPOINT_ENDPOINT_H_
#define MUSTER_RENDEZVOUS_ENDPOINT_ENDPOINT_H_

#include <cstddef>
#include <string>
#include <vector>

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

// Maximum number of endpoints that may be configured for one coordinator.
inline constexpr size_t kMaxEndpoints = 8;

// Parses endpoints that are separated by commas: 1 to kMaxEndpoints, each in a
// form of ParseEndpoint, no two equal. InvalidArgument: `text` is malformed;
// the message says how.
absl::StatusOr<std::vector<Endpoint>> ParseEndpoints(const std::string& text);

// Returns the endpoints in the form that ParseEndpoints reads:
// host:port,host:port.
std::string EndpointsText(const std::vector<Endpoint>& endpoints);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_ENDPOINT_ENDPOINT_H_
