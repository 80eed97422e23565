#ifndef MUSTER_AGENT_STORE_ROUND_STORE_H_
#define MUSTER_AGENT_STORE_ROUND_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/ports/port_reservation.h"
#include "agent/store/store_plan.h"
#include "base/net/socket_address.h"
#include "base/net/tls_stream.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/job_spec.h"
#include "store/relay/store_relay.h"
#include "store/server/store_load.h"
#include "store/server/store_server.h"

namespace muster::agent {

// The store of each round on this node. The node of rank 0 runs a server, on a
// new port for each round (exception: Options::fixed_port). The port is
// reserved before the round begins, so that no other process takes it. The port
// refuses connections until the round begins. No earlier round has used the
// port, so workers find no keys of another round.
//
// With StorePath::kThroughAgent, the other nodes run a relay to the server.
// With StoreHost::kWorker there is no server: the port is only reserved, and
// rank 0's worker binds it.
//
// Not thread-safe; the servers have threads of their own.
class RoundStore {
 public:
  struct Options {
    rendezvous::StoreHost host = rendezvous::StoreHost::kAgent;
    StorePath path = StorePath::kDirect;
    // The store's port in every round, if the user gave one; 0: a new free port
    // for each round.
    int fixed_port = 0;
    // the flag by which the user gave the store's port; for messages
    std::string fixed_by;
    std::string node_host;  // this node's name, for messages
    // Addresses and networks whose clients are served besides the round's
    // nodes, in the notation of AddressSet::Add.
    std::vector<std::string> more_clients;
    // Returns the addresses of this host.
    std::function<std::vector<std::string>()> own_addresses =
        InterfaceAddresses;
    // Prints lines for the user; called from the servers' threads too.
    std::function<void(const std::string&)> on_notice;
  };

  explicit RoundStore(Options options) : options_(std::move(options)) {}

  // Reserves a port for the store of the next round and returns it, so that the
  // agent can offer it. The port does not accept connections yet.
  // ResourceExhausted: no free port or descriptor.
  absl::StatusOr<int> Prepare();

  // Begins a round, and closes an earlier round's store. Returns the
  // MASTER_ADDR and MASTER_PORT for this node's workers. `place.master_address`
  // must be reachable from this node. With `place.channel_key`, connections
  // between nodes are encrypted. Any error means that this node's workers
  // cannot use the store.
  absl::StatusOr<rendezvous::Endpoint> Begin(const rendezvous::Place& place);

  // The load of the round's store, if this node has served the store of any
  // round; nullopt otherwise. `requests` counts those of all rounds.
  std::optional<store::StoreLoad> load() const;

  // Ends the current round's store on this node: closes the connections of the
  // clients, so that their pending requests fail. `reason`: why the round is
  // broken; empty: the round is not broken.
  void Close(const std::string& reason);

 private:
  // Starts `server_` at `port`, on the first address of the plan that this host
  // has. Returns that address; "" means all addresses.
  absl::StatusOr<std::string> Listen(const StorePlan& plan, int port);
  absl::StatusOr<std::string> Serve(const rendezvous::Place& place);
  absl::StatusOr<rendezvous::Endpoint> Relay(
      const rendezvous::Endpoint& master);

  const Options options_;
  // the reason why no port is reserved for the store of the next round
  absl::Status next_status_ =
      absl::FailedPreconditionError("it was not prepared");
  std::optional<PortReservation> next_port_;

  // keys of the current round's encryption; nullopt: clear text
  std::optional<TlsContext> tls_;
  // The next three members belong to the store of the current round; at most
  // one of them is set. This node runs a server, or a relay to another node's
  // server, or (StoreHost::kWorker) only reserves a port.
  std::unique_ptr<store::StoreServer> server_;
  std::unique_ptr<store::StoreRelay> relay_;
  std::optional<PortReservation> port_;
  // Number of requests that the servers of earlier rounds have handled.
  int64_t earlier_requests_ = 0;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_STORE_ROUND_STORE_H_
