#include "agent/store/round_store.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"

namespace muster::agent {
namespace {

constexpr char kThisHost[] = "127.0.0.1";

// The longest time that the agent's loop may block while a relay connects to
// the store: much less than a lease.
constexpr Duration kReachTimeout = std::chrono::seconds(3);

}  // namespace

absl::StatusOr<std::string> RoundStore::Listen(const StorePlan& plan,
                                               int port) {
  absl::Status last = absl::InternalError("no address to listen on");
  for (const std::string& address : plan.listen) {
    store::StoreServerOptions options;
    options.address = address;
    options.port = port;
    options.clients = plan.clients;
    options.tls = tls_;
    options.clear_text_clients = plan.own_host;
    options.max_store_bytes = plan.max_store_bytes;
    options.max_buffer_bytes = plan.max_buffer_bytes;
    options.on_notice = options_.on_notice;
    absl::StatusOr<std::unique_ptr<store::StoreServer>> server =
        store::StoreServer::Start(std::move(options));
    if (server.ok()) {
      server_ = *std::move(server);
      return address;
    }
    last = server.status();
    // InvalidArgument: this host does not have `address`, so the loop tries the
    // next address of the StorePlan. After any other error no further address
    // is tried.
    if (!absl::IsInvalidArgument(last)) break;
  }
  return last;
}

absl::StatusOr<int> RoundStore::Prepare() {
  // The port that the user gave is returned without reserving it, because the
  // store of the current round may still use it.
  if (options_.fixed_port != 0) return options_.fixed_port;
  if (!next_port_.has_value()) {
    absl::StatusOr<PortReservation> port =
        PortReservation::Take(options_.host == rendezvous::StoreHost::kWorker
                                  ? PortReservation::Sharing::kWithServers
                                  : PortReservation::Sharing::kNone);
    next_status_ = port.status();
    if (!port.ok()) return port.status();
    next_port_ = *std::move(port);
  }
  return next_port_->port();
}

absl::StatusOr<rendezvous::Endpoint> RoundStore::Begin(
    const rendezvous::Place& place) {
  relay_.reset();
  if (server_ != nullptr) {
    server_->Close("");
    earlier_requests_ += server_->load().requests;
  }
  server_.reset();
  port_.reset();
  tls_.reset();
  if (!place.channel_key.empty()) {
    absl::StatusOr<TlsContext> tls =
        TlsContext::Make(place.channel_key, store::kRelayPurpose);
    if (!tls.ok()) return tls.status();
    tls_ = *std::move(tls);
  }
  rendezvous::Endpoint master{place.master_address, place.master_port};
  const bool is_master = place.group_rank == 0;
  if (options_.host == rendezvous::StoreHost::kWorker) {
    // The port stays reserved for the whole round. The reservation lets servers
    // with SO_REUSEADDR bind the port, as the worker of rank 0 does.
    if (is_master) port_ = std::exchange(next_port_, std::nullopt);
    return master;
  }
  if (is_master) {
    const absl::StatusOr<std::string> address = Serve(place);
    if (!address.ok()) return address.status();
    if (!address->empty()) {
      master.host = *address;
    } else if (options_.path == StorePath::kThroughAgent) {
      master.host = kThisHost;
    }
    return master;
  }
  return options_.path == StorePath::kDirect ? master : Relay(master);
}

// Starts a relay to the store of group rank 0 and returns the relay's address.
// The relay tries for kReachTimeout (3 s) to connect, because the store may
// begin the round later than this node.
//
// If the relay fails, returns the store's own address, so that the workers
// connect to the store directly. Exception: if the round has an encryption key,
// returns an error, because workers must not send anything in clear text.
absl::StatusOr<rendezvous::Endpoint> RoundStore::Relay(
    const rendezvous::Endpoint& master) {
  store::StoreRelayOptions options;
  options.upstream_host = master.host;
  options.upstream_port = master.port;
  options.deadline = MonotonicNow() + kReachTimeout;
  options.tls = tls_;
  options.address = kThisHost;
  options.on_notice = options_.on_notice;
  absl::StatusOr<std::unique_ptr<store::StoreRelay>> relay =
      store::StoreRelay::Start(std::move(options));
  if (!relay.ok() && tls_.has_value()) {
    return absl::Status(
        relay.status().code(),
        absl::StrCat("--encrypt=workers: ", options_.node_host, ": ",
                     std::string(relay.status().message())));
  }
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

absl::StatusOr<std::string> RoundStore::Serve(const rendezvous::Place& place) {
  const StorePlan plan =
      PlanStore(place, options_.own_addresses(), options_.more_clients);
  if (!plan.remark.empty() && options_.on_notice) {
    options_.on_notice(plan.remark);
  }
  if (options_.fixed_port == 0) {
    std::optional<PortReservation> reserved =
        std::exchange(next_port_, std::nullopt);
    if (!reserved.has_value()) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the round's store cannot be served at this node: ",
                       next_status_.message()));
    }
    if (reserved->port() != place.master_port) {
      return absl::InternalError(absl::StrCat(
          "the round's store is expected at port ", place.master_port,
          ", but this node serves it at port ", reserved->port()));
    }
    // Ends the reservation's exclusive hold on the port, so that the server can
    // bind it.
    reserved->Share();
    return Listen(plan, place.master_port);
  }
  absl::StatusOr<std::string> address = Listen(plan, options_.fixed_port);
  if (absl::IsAlreadyExists(address.status())) {
    return absl::AlreadyExistsError(absl::StrCat(
        "port ", options_.fixed_port, " is taken on ", options_.node_host,
        "; choose another with ", options_.fixed_by));
  }
  if (!address.ok()) {
    return absl::Status(
        address.status().code(),
        absl::StrCat(options_.fixed_by, "=", options_.fixed_port, ": ",
                     address.status().message()));
  }
  return address;
}

std::optional<store::StoreLoad> RoundStore::load() const {
  if (server_ == nullptr && earlier_requests_ == 0) return std::nullopt;
  store::StoreLoad load =
      server_ == nullptr ? store::StoreLoad() : server_->load();
  load.requests += earlier_requests_;
  return load;
}

void RoundStore::Close(const std::string& reason) {
  if (relay_ != nullptr) relay_->Close();
  if (server_ != nullptr) server_->Close(reason);
}

}  // namespace muster::agent
