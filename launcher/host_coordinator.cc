#include "launcher/host_coordinator.h"

#include <chrono>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "base/loopback.h"
#include "base/monotonic_clock.h"
#include "base/net/connect.h"
#include "base/net/resolve.h"
#include "base/net/socket_address.h"
#include "base/owned_fd.h"
#include "base/poll.h"
#include "rendezvous/tls/tls_files.h"

namespace muster::launcher {
namespace {

constexpr Duration kPortTimeout = std::chrono::seconds(5);
constexpr Duration kLook = std::chrono::seconds(1);
constexpr Duration kPause = std::chrono::milliseconds(100);

// Returns the local address from which this node connects to the coordinator;
// empty: there is none.
std::string AddressTowards(const rendezvous::Endpoint& coordinator) {
  const auto addresses =
      Resolve(coordinator.host, coordinator.port, {.timeout = kLook});
  return addresses.ok() ? LocalAddressTowards(addresses->front()) : "";
}

// Whether the address `host` with the port of `coordinator` is reserved for the
// coordinator: another process of this machine may bind this address and become
// the coordinator, now or later. This node's standby then uses another port.
bool IsHostsPort(const rendezvous::Endpoint& coordinator,
                 const std::string& host) {
  const auto addresses =
      Resolve(coordinator.host, coordinator.port, {.timeout = kLook});
  if (!addresses.ok()) return false;
  const bool is_name = !NumericAddress(coordinator.host, 0).has_value();
  const std::vector<std::string> own = InterfaceAddresses();
  return absl::c_any_of(*addresses, [&](const SocketAddress& address) {
    const std::string ip = address.Ip();
    return (IsLoopback(ip) || absl::c_linear_search(own, ip)) &&
           (is_name || ip == host);
  });
}

bool SomebodyListens(const rendezvous::Endpoint& endpoint) {
  return ConnectTcp(endpoint.host, endpoint.port, MonotonicNow() + kLook).ok();
}

}  // namespace

absl::StatusOr<std::unique_ptr<EmbeddedCoordinator>> HostCoordinator(
    const CoordinatorChoice& choice,
    const EmbeddedCoordinator::Options& hosting, const Voice& voice) {
  if (choice.place == CoordinatorPlace::kElsewhere) return nullptr;
  const Instant deadline = MonotonicNow() + kPortTimeout;
  for (bool is_first = true;; is_first = false) {
    auto here = EmbeddedCoordinator::Start(hosting, voice);
    if (choice.place != CoordinatorPlace::kHereIfFree ||
        !absl::IsAlreadyExists(here.status())) {
      return here;
    }
    if (SomebodyListens(choice.endpoints.front())) return nullptr;
    if (MonotonicNow() >= deadline) return here;
    if (is_first) {
      voice.Notice(absl::StrCat("port ", choice.endpoints.front().port,
                                " is taken, but nobody listens there; trying "
                                "again for ",
                                ToSeconds(kPortTimeout), " s"));
    }
    PauseUntil(MonotonicNow() + kPause);
  }
}

std::unique_ptr<EmbeddedCoordinator> StandBy(
    const CoordinatorChoice& choice, const rendezvous::NodeIdentity& node,
    EmbeddedCoordinator::Options standing_by, const Voice& voice) {
  const rendezvous::Endpoint& endpoint = choice.endpoints.front();
  std::string host =
      node.address.empty() ? AddressTowards(endpoint) : node.address;
  if (host.empty()) {
    voice.Notice(absl::StrCat(
        "this node does not take over from the coordinator: no address of this "
        "machine reaches ",
        endpoint.ToString(), "; give --local-addr"));
    return nullptr;
  }
  if (standing_by.tls.given()) {
    host = rendezvous::HostInCertificate(standing_by.tls, {host, node.host});
  }
  standing_by.takeover->own_host = host;
  // Set up the gRPC server only when a node connects, because a standby may
  // never get a connection.
  standing_by.set_up = rendezvous::GrpcServer::SetUp::kWithFirstConnection;
  // Bind every interface if `host` is a name: the name may resolve to different
  // addresses on this machine and on the peers.
  const bool is_address = NumericAddress(host, 0).has_value();
  standing_by.listen = {is_address ? host : "::",
                        IsHostsPort(endpoint, host) ? 0 : endpoint.port};
  auto here = EmbeddedCoordinator::Start(standing_by, voice);
  if (!here.ok()) {
    standing_by.listen.port = 0;
    here = EmbeddedCoordinator::Start(standing_by, voice);
  }
  if (here.ok()) return *std::move(here);
  voice.Notice(
      absl::StrCat("this node does not take over from the coordinator: ",
                   here.status().message()));
  return nullptr;
}

}  // namespace muster::launcher
