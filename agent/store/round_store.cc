#include "agent/store/round_store.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"

namespace muster::agent {
namespace {

constexpr char kThisHost[] = "127.0.0.1";

// The longest time that connecting a relay may block the agent's loop: much
// less than a lease.
constexpr Duration kReachTimeout = std::chrono::seconds(3);

}  // namespace

absl::StatusOr<std::unique_ptr<store::StoreServer>> RoundStore::Listen(
    int port) const {
  store::StoreServerOptions options;
  options.port = port;
  options.on_notice = options_.on_notice;
  return store::StoreServer::Start(std::move(options));
}

absl::StatusOr<int> RoundStore::Prepare() {
  // A server for a fixed port can listen only after the current round.
  if (options_.fixed_port != 0) return options_.fixed_port;
  if (options_.host == rendezvous::StoreHost::kWorker) {
    if (!next_port_.has_value()) {
      absl::StatusOr<PortReservation> port = PortReservation::Take();
      if (!port.ok()) return port.status();
      next_port_ = *std::move(port);
    }
    return next_port_->port();
  }
  if (next_server_ == nullptr) {
    absl::StatusOr<std::unique_ptr<store::StoreServer>> server = Listen(0);
    next_status_ = server.status();
    if (!server.ok()) return server.status();
    next_server_ = *std::move(server);
  }
  return next_server_->port();
}

absl::StatusOr<rendezvous::Endpoint> RoundStore::Begin(
    const rendezvous::Place& place) {
  relay_.reset();
  server_.reset();
  port_.reset();
  rendezvous::Endpoint master{place.master_address, place.master_port};
  const bool is_master = place.group_rank == 0;
  if (options_.host == rendezvous::StoreHost::kWorker) {
    // The port stays reserved for the whole round: rank 0's worker can bind it
    // nevertheless.
    if (is_master) port_ = std::exchange(next_port_, std::nullopt);
    return master;
  }
  if (is_master) {
    if (absl::Status served = Serve(master.port); !served.ok()) return served;
    if (options_.path == StorePath::kThroughAgent) master.host = kThisHost;
    return master;
  }
  return options_.path == StorePath::kDirect ? master : Relay(master);
}

// Starts a relay to the store of group rank 0, which listens since before the
// round, and returns the relay's address. If the store cannot be reached, its
// node may be lost, which the coordinator will notice; the workers then get the
// store's own address, and their connections fail with a message.
rendezvous::Endpoint RoundStore::Relay(const rendezvous::Endpoint& master) {
  store::StoreRelayOptions options;
  options.upstream_host = master.host;
  options.upstream_port = master.port;
  options.deadline = MonotonicNow() + kReachTimeout;
  options.address = kThisHost;
  options.on_notice = options_.on_notice;
  absl::StatusOr<std::unique_ptr<store::StoreRelay>> relay =
      store::StoreRelay::Start(std::move(options));
  if (!relay.ok()) {
    if (options_.on_notice) {
      options_.on_notice(absl::StrCat(
          "--local-store: cannot relay the store at ", master.ToString(), " (",
          relay.status().message(), "); workers connect to it themselves"));
    }
    return master;
  }
  relay_ = *std::move(relay);
  return rendezvous::Endpoint{kThisHost, relay_->port()};
}

absl::Status RoundStore::Serve(int port) {
  if (options_.fixed_port == 0) {
    server_ = std::move(next_server_);
    if (server_ == nullptr) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the round's store cannot be served at this node: ",
                       next_status_.message()));
    }
    if (server_->port() == port) return absl::OkStatus();
    return absl::InternalError(
        absl::StrCat("the round's store is expected at port ", port,
                     ", but this node serves it at port ", server_->port()));
  }
  absl::StatusOr<std::unique_ptr<store::StoreServer>> server =
      Listen(options_.fixed_port);
  if (absl::IsAlreadyExists(server.status())) {
    return absl::AlreadyExistsError(absl::StrCat(
        "port ", options_.fixed_port, " is taken on ", options_.node_host,
        "; choose another with ", options_.fixed_by));
  }
  if (!server.ok()) {
    return absl::Status(
        server.status().code(),
        absl::StrCat(options_.fixed_by, "=", options_.fixed_port, ": ",
                     server.status().message()));
  }
  server_ = *std::move(server);
  return absl::OkStatus();
}

void RoundStore::Close(const std::string& reason) {
  if (relay_ != nullptr) relay_->Close();
  if (server_ != nullptr) server_->Close(reason);
}

}  // namespace muster::agent
