#include "agent/dialects/published_address.h"

#include "base/loopback.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster {

std::string PublishedAddress(const std::string& host, int port) {
  return host.empty() ? "" : Endpoint{host, port}.ToString();
}

std::string AddressFromHere(const std::string& published,
                            const std::string& own,
                            const std::string& coordinator) {
  if (own.empty() || IsLoopback(own)) return published;
  const absl::StatusOr<Endpoint> peer = ParseEndpoint(published);
  const absl::StatusOr<Endpoint> meeting = ParseEndpoint(coordinator);
  if (!peer.ok() || !meeting.ok() || !IsLoopback(peer->host)) return published;
  return Endpoint{meeting->host, peer->port}.ToString();
}

}  // namespace muster
