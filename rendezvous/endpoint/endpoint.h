#ifndef MUSTER_RENDEZVOUS_ENDPOINT_ENDPOINT_H_
#define MUSTER_RENDEZVOUS_ENDPOINT_ENDPOINT_H_

#include <string>

#include "absl/status/statusor.h"

namespace muster {

// Where a coordinator listens unless told otherwise; torchrun's port.
inline constexpr int kDefaultPort = 29400;

struct Endpoint {
  std::string host;  // a name or an address, without brackets
  int port = kDefaultPort;

  // host:port, with brackets where the host is an IPv6 address.
  std::string ToString() const;
};

// Reads host, host:port, [v6], [v6]:port or a bare v6 address.
// InvalidArgument: says what is wrong with `text`.
absl::StatusOr<Endpoint> ParseEndpoint(const std::string& text);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_ENDPOINT_ENDPOINT_H_
