#ifndef MUSTER_STORE_TESTING_RANDOM_CLIENT_H_
#define MUSTER_STORE_TESTING_RANDOM_CLIENT_H_

#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "store/core/store_effects.h"
#include "store/testing/simulated_store.h"
#include "store/wire/command.h"

namespace muster::store {

// A client of a SimulatedStore that sends random requests of the kinds that
// PyTorch sends, and fails the test if a request is not answered exactly once.
// It uses the queues "q" and "r" and the key "k".
class RandomClient {
 public:
  // Whether a client that was offered an element always finds it. Other clients
  // may take it if they pop without a wait, or if offers expire.
  enum class Told { kFinds, kMayFindNothing };
  // Counts over all clients of a simulation, to check which cases were
  // exercised.
  struct Tally {
    size_t found = 0;
    size_t found_nothing = 0;
    size_t canceled = 0;
    size_t refused = 0;
  };

  // Connects to the server or to a relay.
  RandomClient(SimulatedStore* store, std::optional<size_t> relay,
               StoreFraming framing, Told told, Tally* tally)
      : store_(store),
        id_(store->Connect(relay, framing)),
        framing_(framing),
        told_(told),
        tally_(tally) {}

  // Sends a request, leaves, or does nothing, at random.
  void Act(std::mt19937* random);
  // Pops if it was offered an element; returns whether it did.
  bool GoOn();
  // Reads the next reply; returns whether there was one.
  bool Read();
  void Leave(SimulatedStore::Unread unread);

  StoreClientId id() const { return id_; }
  bool gone() const { return state_ == State::kGone; }
  // Whether no reply is outstanding, except for a wait.
  bool Rests() const {
    return gone() || state_ == State::kIdle || state_ == State::kWaits;
  }
  // Whether the client waits for `key` only.
  bool WaitsFor(std::string_view key) const;
  // Whether an element may be reserved for the client: its last request was a
  // wait for `queue`, and the wait has ended.
  bool MayHold(std::string_view queue) const;

 private:
  enum class State { kIdle, kWaits, kTold, kPops, kCancels, kAsks, kGone };

  void Send(StoreCommand command, std::string_view key);
  // Gives up its wait, which may have ended already.
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
  // The keys of its last wait. If it waits in order to pop, it pops the first.
  std::vector<std::string_view> keys_;
  bool waits_to_pop_ = false;
  // Whether the reply to a wait that was given up may still arrive.
  bool gave_up_ = false;
  // Whether it has sent no request since its last wait ended.
  bool silent_ = false;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_TESTING_RANDOM_CLIENT_H_
