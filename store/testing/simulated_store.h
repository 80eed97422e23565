#ifndef MUSTER_STORE_TESTING_SIMULATED_STORE_H_
#define MUSTER_STORE_TESTING_SIMULATED_STORE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "store/core/store_core.h"
#include "store/core/store_effects.h"
#include "store/relay/relay_core.h"
#include "store/server/store_connection.h"
#include "store/wire/request.h"

namespace muster::store {

// A round's store, relays and clients without sockets. Uses the real StoreCore
// and RelayCore. Requests, frames and replies are in flight until the test
// delivers them, in any order.
class SimulatedStore {
 public:
  // The fate of the requests that a client sent just before it disconnected.
  // kArrives: they still arrive. kIsLost: they are lost.
  enum class Unread { kArrives, kIsLost };
  // One piece of data that a client reads.
  struct Input {
    // Whether the store has refused the client and ended its connection;
    // `bytes` is then the text of the reason.
    bool refused = false;
    std::string bytes;
  };

  SimulatedStore(size_t relays, size_t max_store_bytes);

  // Connects a new client to a relay, or to the server itself.
  StoreClientId Connect(std::optional<size_t> relay, StoreFraming framing);
  void Send(StoreClientId client, const StoreRequest& request);
  std::optional<Input> Read(StoreClientId client);
  void Disconnect(StoreClientId client, Unread unread);

  // Whether the simulation still has state of the client. A disconnected client
  // may have state, too.
  bool Knows(StoreClientId client) const { return clients_.contains(client); }

  // Each Deliver function delivers messages that are in flight on one
  // connection in one direction. Each returns false if no message was in
  // flight.
  //
  // Delivers the client's next request or its disconnection.
  bool DeliverRequest(StoreClientId client);
  // Delivers up to `max_frames` frames of a relay to the server, as if they
  // were read together.
  bool DeliverToServer(size_t relay, size_t max_frames);
  // Delivers the server's next frame to a relay.
  bool DeliverToRelay(size_t relay);

  // Simulates one tick of the server. The tick ends old offers. An offer is the
  // reservation of a queue's element for a client that has not popped it yet.
  void AgeOffers();

  // Length of the queue, including elements that are reserved for a client.
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
    // The two ends of the client's connection. connected: whether the client's
    // end is open. served: whether the end of the server or relay is open. One
    // end may close before the other end notices.
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
    // The server's end of the connection to the relay.
    StoreConnection at_server;
  };
  using Step = std::function<void(StoreEffects* effects)>;

  // AtServer performs `step` on the store's core, and AtRelay on a relay's
  // core. Both deliver the effects of the step.
  void AtServer(const Step& step);
  void AtRelay(size_t relay, const Step& step);
  // Each Settle function notifies a core (the store's or a relay's) of
  // disconnected clients before the core gets the next message, as StoreHub
  // does.
  void SettleServer();
  void SettleRelay(size_t relay);
  void TakeFrame(size_t relay, const std::string& bytes);
  void SendToRelay(const StoreEffects::Effect& effect, std::string_view bytes);
  // Delivers a reply or a refusal to a client, and appends a refused client to
  // `gone`.
  void SendToClient(const StoreEffects::Effect& effect, std::string_view bytes,
                    std::vector<StoreClientId>* gone);

  StoreCore store_;
  ChannelTable channels_;
  std::vector<StoreClientId> gone_;
  std::deque<Relay> relays_;
  std::map<StoreClientId, Client> clients_;
  StoreClientId next_client_ = 1;
};

// A client of a SimulatedStore. It sends random requests of the kinds that
// PyTorch sends, and uses the queues "q" and "r" and the key "k". Fails the
// test if a request is not answered exactly once.
class RandomClient {
 public:
  // Whether a client that was offered an element always finds it when it pops.
  // kFinds: yes. kMayFindNothing: no, because another client may take the
  // element first, by a pop without a wait or after the offer has expired.
  enum class Told { kFinds, kMayFindNothing };
  // Counts of cases over all clients of a simulation, to check that each case
  // occurred.
  struct Tally {
    size_t found = 0;
    size_t found_nothing = 0;
    size_t canceled = 0;
    size_t refused = 0;
  };

  // Connects to a relay, or to the server if `relay` is nullopt.
  RandomClient(SimulatedStore* store, std::optional<size_t> relay,
               StoreFraming framing, Told told, Tally* tally)
      : store_(store),
        id_(store->Connect(relay, framing)),
        framing_(framing),
        told_(told),
        tally_(tally) {}

  // At random, sends a request, disconnects, or does nothing.
  void Act(std::mt19937* random);
  // If the client has waited for an element of a queue in order to pop it, and
  // the store has replied that there is one, sends the pop and returns true.
  // Otherwise returns false.
  bool GoOn();
  // Reads the next reply; returns whether there was one.
  bool Read();
  void Leave(SimulatedStore::Unread unread);

  StoreClientId id() const { return id_; }
  bool gone() const { return state_ == State::kGone; }
  // Whether the client has no unanswered request, except perhaps a WAIT.
  bool Rests() const {
    return gone() || state_ == State::kIdle || state_ == State::kWaits;
  }
  // Whether the client waits for `key` only.
  bool WaitsFor(std::string_view key) const;
  // Whether an element of `queue` may be reserved for the client: its last
  // request was a wait for `queue`, and the wait has ended.
  bool MayHold(std::string_view queue) const;

 private:
  enum class State { kIdle, kWaits, kTold, kPops, kCancels, kAsks, kGone };

  void Send(StoreCommand command, std::string_view key);
  // Sends `command`, with which the client gives up its wait, and sets `state`.
  // The store may have ended the wait already.
  void GiveUpBy(State state, StoreCommand command, std::string_view key);
  void Begin(std::mt19937* random);
  void Wait(std::vector<std::string_view> keys);
  void ReadElement(std::string_view reply);

  SimulatedStore* const store_;
  const StoreClientId id_;
  const StoreFraming framing_;
  const Told told_;
  Tally* const tally_;
  State state_ = State::kIdle;
  // The keys of the last WAIT. If the WAIT is part of a blocking pop, the
  // client then pops from the first of them.
  std::vector<std::string_view> keys_;
  bool waits_to_pop_ = false;
  // Whether the reply to a wait that was given up may still arrive.
  bool gave_up_ = false;
  // Whether the client has sent no request since its last wait ended.
  bool silent_ = false;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_TESTING_SIMULATED_STORE_H_
