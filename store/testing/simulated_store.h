#ifndef MUSTER_STORE_TESTING_SIMULATED_STORE_H_
#define MUSTER_STORE_TESTING_SIMULATED_STORE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/core/store_core.h"
#include "store/core/store_effects.h"
#include "store/relay/relay_core.h"
#include "store/server/channel_table.h"
#include "store/server/store_connection.h"
#include "store/wire/command.h"
#include "store/wire/request.h"

namespace muster::store {

// A round's store, relays and clients without sockets. Uses the real cores;
// requests, frames and replies between them are in flight until the test
// delivers them, in any order.
class SimulatedStore {
 public:
  // The fate of requests in flight when their client disconnects.
  enum class Unread { kArrives, kIsLost };
  // One piece of data that a client reads.
  struct Input {
    // The connection has ended; `bytes` has the reason.
    bool refused = false;
    std::string bytes;
  };

  SimulatedStore(size_t relays, size_t max_store_bytes);

  // Connects a new client to a relay, or to the server itself.
  StoreClientId Connect(std::optional<size_t> relay, StoreFraming framing);
  void Send(StoreClientId client, const StoreRequest& request);
  std::optional<Input> Read(StoreClientId client);
  void Disconnect(StoreClientId client, Unread unread);

  // Whether any state of a disconnected client is left.
  bool Knows(StoreClientId client) const { return clients_.contains(client); }

  // Each Deliver function delivers messages in flight at one place and returns
  // false if there were none.
  //
  // Delivers the client's next request or its disconnection.
  bool DeliverRequest(StoreClientId client);
  // Delivers a relay's next frames, up to `max_frames`; the server reads them
  // together.
  bool DeliverToServer(size_t relay, size_t max_frames);
  // Delivers the server's next frame to a relay.
  bool DeliverToRelay(size_t relay);

  // Calls the server's tick.
  void AgeOffers();

  // Length of the queue, including offered elements.
  int64_t LengthOf(std::string_view queue);
  const StoreCore& store() const { return store_; }
  const RelayCore& relay(size_t relay) const { return relays_[relay].core; }
  // The number of the relay's channels that the server knows.
  size_t ChannelsAtServer(size_t relay) const {
    return relays_[relay].at_server.channels.size();
  }

 private:
  struct Client {
    std::optional<size_t> relay;
    StoreFraming framing;
    // Whether each end of the connection is open; one end may be closed before
    // the other notices.
    bool connected = true;
    bool served = true;
    std::deque<std::string> requests;
    std::deque<Input> replies;
  };
  struct Relay {
    RelayCore core;
    std::deque<std::string> to_server;
    std::deque<std::string> to_relay;
    std::vector<StoreClientId> gone;
    // The relay's connection on the server's side.
    StoreConnection at_server;
  };
  using Step = std::function<void(StoreEffects* effects)>;

  // Runs one step of a core and its effects.
  void AtServer(const Step& step);
  void AtRelay(size_t relay, const Step& step);
  // Handles clients that are gone before the next message, as StoreHub does.
  void SettleServer();
  void SettleRelay(size_t relay);
  void TakeFrame(size_t relay, const std::string& bytes);
  void SendToRelay(const StoreEffects::Effect& effect, std::string_view bytes);
  // A client that is refused is gone.
  void SendToClient(const StoreEffects::Effect& effect, std::string_view bytes,
                    std::vector<StoreClientId>* gone);

  StoreCore store_;
  ChannelTable channels_;
  std::vector<StoreClientId> gone_;
  std::deque<Relay> relays_;
  std::map<StoreClientId, Client> clients_;
  StoreClientId next_client_ = 1;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_TESTING_SIMULATED_STORE_H_
