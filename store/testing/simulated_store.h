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

namespace muster {

// A round's store, relays and clients without sockets: the real cores, and
// between them requests, frames and replies that are under way until the test
// delivers them, in whatever order it likes.
class SimulatedStore {
 public:
  // What becomes of requests under way when their client disconnects.
  enum class Unread { kArrives, kIsLost };
  // What a client reads.
  struct Input {
    // The connection has ended; the bytes say why.
    bool refused = false;
    std::string bytes;
  };

  SimulatedStore(size_t relays, size_t max_store_bytes);

  // A new client of a relay, or of the server itself.
  StoreClientId Connect(std::optional<size_t> relay, StoreFraming framing);
  void Send(StoreClientId client, const StoreRequest& request);
  std::optional<Input> Read(StoreClientId client);
  void Disconnect(StoreClientId client, Unread unread);

  // Whether anything is left of a client that has disconnected.
  bool Knows(StoreClientId client) const { return clients_.contains(client); }

  // Each of these delivers what is under way at one place, and returns whether
  // anything was that could be.
  // A client's next request, or that it is gone.
  bool DeliverRequest(StoreClientId client);
  // A relay's next frames, at most so many; the server reads them together.
  bool DeliverToServer(size_t relay, size_t most_frames);
  // The server's next frame to a relay.
  bool DeliverToRelay(size_t relay);

  // The server's tick.
  void AgeOffers();

  // How many elements the queue has, offered ones too.
  int64_t LengthOf(std::string_view queue);
  const StoreCore& store() const { return store_; }
  const RelayCore& relay(size_t relay) const { return relays_[relay].core; }
  // How many of the relay's channels the server knows.
  size_t ChannelsAtServer(size_t relay) const {
    return relays_[relay].at_server.channels.size();
  }

 private:
  struct Client {
    std::optional<size_t> relay;
    StoreFraming framing;
    // Either end of the connection may be closed before the other sees it.
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
    // The connection as the server sees it.
    StoreConnection at_server;
  };
  using Step = std::function<void(StoreEffects* effects)>;

  // One step of a core, and its effects.
  void AtServer(const Step& step);
  void AtRelay(size_t relay, const Step& step);
  // Who is gone is seen to before what comes next is handled, as in a StoreHub.
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

}  // namespace muster

#endif  // MUSTER_STORE_TESTING_SIMULATED_STORE_H_
