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

namespace muster {

// A client of a simulated store that asks at random for what PyTorch's may ask,
// and fails the test if it is not answered just once. It knows the queues "q"
// and "r" and the key "k".
class RandomClient {
 public:
  // Whether who is told of an element finds it. Others may have taken it where
  // clients pop without a wait, or offers come to an end.
  enum class Told { kFinds, kMayFindNothing };
  // What all clients of a simulation have seen, to know what it has tried.
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

  // Asks for something, or leaves, or does nothing.
  void Act(std::mt19937* random);
  // Pops if it was told that it may: whether it did.
  bool GoOn();
  // Reads the next reply: whether there was one.
  bool Read();
  void Leave(SimulatedStore::Unread unread);

  StoreClientId id() const { return id_; }
  bool gone() const { return state_ == State::kGone; }
  // Whether it needs no answer, save that a wait may last.
  bool Rests() const {
    return gone() || state_ == State::kIdle || state_ == State::kWaits;
  }
  // Whether it waits for this key and no other.
  bool WaitsFor(std::string_view key) const;
  // Whether an element may be kept for it: its last word was a wait for the
  // queue, which is over.
  bool MayHold(std::string_view queue) const;

 private:
  enum class State { kIdle, kWaits, kTold, kPops, kCancels, kAsks, kGone };

  void Send(StoreCommand command, std::string_view key);
  // Gives its wait up, which may be over already.
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
  // Of its last wait. It pops the first where it waits to pop.
  std::vector<std::string_view> keys_;
  bool waits_to_pop_ = false;
  // Whether the reply to a wait may yet come that was given up.
  bool gave_up_ = false;
  // Whether nothing was asked since the last wait was over.
  bool silent_ = false;
};

}  // namespace muster

#endif  // MUSTER_STORE_TESTING_RANDOM_CLIENT_H_
