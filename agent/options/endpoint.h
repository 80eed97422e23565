#ifndef MUSTER_AGENT_OPTIONS_ENDPOINT_H_
#define MUSTER_AGENT_OPTIONS_ENDPOINT_H_

#include <string>

#include "absl/status/statusor.h"

namespace muster {

inline constexpr int kDefaultCoordinatorPort = 29400;

// A host (a name or an IP address, an IPv6 one without its brackets) and port.
struct Endpoint {
  std::string host;
  int port = kDefaultCoordinatorPort;

  // "host:port", "[::1]:port".
  std::string ToString() const;

  bool operator==(const Endpoint&) const = default;
};

// Reads "host", "host:port", "[v6]", "[v6]:port" or a bare IPv6 address.
// InvalidArgument says what was wrong and what to write, without the flag's
// name. A scheme such as "tcp://" is refused with a hint.
absl::StatusOr<Endpoint> ReadEndpoint(const std::string& text,
                                      int default_port);

}  // namespace muster

#endif  // MUSTER_AGENT_OPTIONS_ENDPOINT_H_
