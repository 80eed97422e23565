#include "agent/framework_env/published_address.h"

#include "base/loopback.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster::agent {

std::string PublishedAddress(const std::string& host, int port) {
  return host.empty() ? "" : rendezvous::Endpoint{host, port}.ToString();
}

std::string AddressFromHere(const std::string& published,
                            const std::string& own,
                            const std::string& coordinator) {
  if (own.empty() || IsLoopback(own)) return published;
  const absl::StatusOr<rendezvous::Endpoint> peer =
      rendezvous::ParseEndpoint(published);
  const absl::StatusOr<rendezvous::Endpoint> meeting =
      rendezvous::ParseEndpoint(coordinator);
  if (!peer.ok() || !meeting.ok() || !IsLoopback(peer->host)) return published;
  return rendezvous::Endpoint{meeting->host, peer->port}.ToString();
}

}  // namespace muster::agent
