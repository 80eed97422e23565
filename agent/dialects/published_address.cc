#include "agent/dialects/published_address.h"

#include "rendezvous/endpoint/endpoint.h"

namespace muster {
namespace {

bool IsLoopback(const std::string& host) {
  return host.rfind("127.", 0) == 0 || host == "::1" || host == "localhost";
}

}  // namespace

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
