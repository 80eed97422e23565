#ifndef MUSTER_AGENT_STORE_ROUND_STORE_H_
#define MUSTER_AGENT_STORE_ROUND_STORE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/ports/port_reservation.h"
#include "agent/store/store_path.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/job_spec.h"
#include "store/relay/store_relay.h"
#include "store/server/store_server.h"

namespace muster::agent {

// This node's end of the rounds' stores: a server that listens before its
// round begins, on a port that no earlier round has used, so that there is
// neither a race for the port nor a key of another round; on other nodes, with
// StorePath::kThroughAgent, a relay to it. With StoreHost::kWorker only the
// port is held, for rank 0's worker to bind.
//
// Not thread-safe; the servers have threads of their own.
class RoundStore {
 public:
  struct Options {
    rendezvous::StoreHost host = rendezvous::StoreHost::kAgent;
    StorePath path = StorePath::kDirect;
    // The port of every round, where the user gave one; 0: a fresh one each.
    int fixed_port = 0;
    std::string fixed_by;   // the flag that fixed it, for messages
    std::string node_host;  // this node's name, for messages
    // Lines for a person, from the servers' threads too.
    std::function<void(const std::string&)> on_notice;
  };

  explicit RoundStore(Options options) : options_(std::move(options)) {}

  // The port to offer for the next round, ready to be connected to.
  // ResourceExhausted: no port or no descriptor is left.
  absl::StatusOr<int> Prepare();

  // The round begins: what this node's workers shall take for MASTER_ADDR and
  // MASTER_PORT. An earlier round's store closes. `place.master_address` is
  // reachable from here. Any error: the store cannot be served here.
  absl::StatusOr<rendezvous::Endpoint> Begin(const rendezvous::Place& place);

  // Releases whoever waits in the current round's store.
  void Close(const std::string& reason);

 private:
  absl::StatusOr<std::unique_ptr<store::StoreServer>> Listen(int port) const;
  absl::Status Serve(int port);
  rendezvous::Endpoint Relay(const rendezvous::Endpoint& master);

  const Options options_;
  absl::Status next_status_ =
      absl::FailedPreconditionError("it was not prepared");  // of next_server_
  std::unique_ptr<store::StoreServer> next_server_;
  std::optional<PortReservation> next_port_;

  // Of the current round.
  std::unique_ptr<store::StoreServer> server_;
  std::unique_ptr<store::StoreRelay> relay_;
  std::optional<PortReservation> port_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_STORE_ROUND_STORE_H_
