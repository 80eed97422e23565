// Tests of a simulated store, two relays and their clients. A seed determines
// everything: clients act at random within the protocol, and messages in flight
// are delivered in random order.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "store/testing/simulated_store.h"
#include "store/wire/request.h"

namespace muster::store {
namespace {

using Told = RandomClient::Told;
using Unread = SimulatedStore::Unread;

constexpr size_t kRelays = 2;
constexpr size_t kClients = 9;
constexpr size_t kMuchRoom = size_t{1} << 30;
// Memory limit of the store in bytes: two queues and a few waiting clients fill
// it, so that further requests are refused.
constexpr size_t kLittleRoom = 2500;
constexpr std::array<std::string_view, 2> kQueues = {"q", "r"};

// Whether queue elements may be reserved for clients that have not popped them
// yet (offers). kStand: they may. kAreOver: no element is reserved.
enum class Offers { kStand, kAreOver };

class StoreSimulation {
 public:
  StoreSimulation(uint32_t seed, Told told, size_t max_store_bytes,
                  RandomClient::Tally* tally)
      : random_(seed),
        told_(told),
        tally_(tally),
        store_(kRelays, max_store_bytes) {}

  void Run(int steps) {
    for (int step = 0; step < steps; ++step) {
      if (testing::Test::HasFailure()) return;
      if (Below(400) == 0) ComeToRest();
      if (clients_.size() < kClients) clients_.push_back(NewClient());
      // AgeOffers ends old offers (reservations of a queue element for a
      // client). A pop of such a client may then find no element. So call
      // AgeOffers only in simulations in which a pop may fail
      // (kMayFindNothing).
      if (told_ == Told::kMayFindNothing && Below(150) == 0) {
        store_.AgeOffers();
      }
      Step(*clients_[Below(clients_.size())], Below(kRelays));
    }
    ComeToRest();
    if (!testing::Test::HasFailure()) EndAll();
  }

 private:
  size_t Below(size_t bound) { return random_() % bound; }

  std::unique_ptr<RandomClient> NewClient() {
    std::optional<size_t> relay;
    if (const size_t place = Below(kRelays + 1); place < kRelays) relay = place;
    const auto framing =
        Below(5) == 0 ? StoreFraming::kOld : StoreFraming::kModern;
    return std::make_unique<RandomClient>(&store_, relay, framing, told_,
                                          tally_);
  }

  void Step(RandomClient& client, size_t relay) {
    switch (Below(5)) {
      case 0:
        client.Act(&random_);
        break;
      case 1:
        client.Read();
        break;
      case 2:
        store_.DeliverRequest(client.id());
        ForgetThoseWhoLeft();
        break;
      case 3:
        store_.DeliverToServer(relay, 1 + Below(4));
        break;
      case 4:
        store_.DeliverToRelay(relay);
        break;
    }
  }

  // Removes the disconnected clients for which the simulated store keeps no
  // state any more.
  void ForgetThoseWhoLeft() {
    std::erase_if(clients_, [this](const auto& client) {
      return client->gone() && !store_.Knows(client->id());
    });
  }

  // Delivers all messages in flight. If a client's WAIT was for a pop, and the
  // store offers the client an element, the client pops the element.
  void DeliverAll() {
    for (bool moved = true; moved && !testing::Test::HasFailure();) {
      moved = false;
      for (const auto& client : clients_) {
        while (client->Read()) moved = true;
        moved |= client->GoOn();
        moved |= store_.DeliverRequest(client->id());
      }
      for (size_t relay = 0; relay < kRelays; ++relay) {
        moved |= store_.DeliverToServer(relay, 1 + Below(9));
        moved |= store_.DeliverToRelay(relay);
      }
    }
    ForgetThoseWhoLeft();
  }

  void ComeToRest() {
    DeliverAll();
    CheckNoPopWaitsWhileAnElementIsThere(Offers::kStand);
    if (told_ == Told::kFinds || testing::Test::HasFailure()) return;
    for (size_t tick = 0; store_.store().HasOffers(); ++tick) {
      // Each call of AgeOffers is one tick of the server's timer. After two
      // ticks an offer ends, and its element may be offered to the next client.
      // So all offers must end after a bounded number of ticks.
      ASSERT_LT(tick, 4 * kClients) << "there are offers for ever";
      store_.AgeOffers();
      DeliverAll();
    }
    CheckNoPopWaitsWhileAnElementIsThere(Offers::kAreOver);
  }

  // Checks that no client waits for a queue that has an unreserved element.
  //   - Offers::kAreOver: no element is reserved.
  //   - Offers::kStand: the check assumes one reserved element for each client
  //     whose last WAIT for this queue has ended (MayHold).
  void CheckNoPopWaitsWhileAnElementIsThere(Offers offers) {
    for (const std::string_view queue : kQueues) {
      int64_t spare = store_.LengthOf(queue);
      bool waits = false;
      for (const auto& client : clients_) {
        EXPECT_TRUE(client->Rests()) << "client " << client->id();
        if (offers == Offers::kStand && client->MayHold(queue)) --spare;
        waits = waits || client->WaitsFor(queue);
      }
      EXPECT_TRUE(!waits || spare <= 0) << queue << " has " << spare;
    }
  }

  // Disconnects all clients. After that, neither the store nor the relays may
  // hold any state of the clients.
  void EndAll() {
    for (const auto& client : clients_) {
      client->Leave(Below(2) == 0 ? Unread::kArrives : Unread::kIsLost);
    }
    DeliverAll();
    EXPECT_EQ(store_.store().waiting(), 0);
    EXPECT_FALSE(store_.store().HasOffers());
    for (size_t relay = 0; relay < kRelays; ++relay) CheckChannels(relay);
    Empty();
    EXPECT_EQ(store_.store().bytes(), 0);
  }

  // Checks that the relay keeps a bounded number of channels, and that the
  // server knows no others.
  void CheckChannels(size_t relay) {
    EXPECT_EQ(store_.relay(relay).held_bytes(), 0);
    // As many clients as the relay may have channels read different keys at
    // once. Each read needs a channel of its own, so every channel must be in
    // use.
    constexpr size_t kChannels = 2 * kClients;
    std::vector<StoreClientId> readers;
    for (size_t i = 0; i < kChannels; ++i) {
      readers.push_back(store_.Connect(relay, StoreFraming::kModern));
      const std::string key(i + 1, 'x');
      store_.Send(readers.back(), {.command = StoreCommand::kGet, .key = key});
      store_.DeliverRequest(readers.back());
    }
    DeliverAll();
    EXPECT_EQ(store_.ChannelsAtServer(relay), kChannels);
    for (const StoreClientId reader : readers) {
      store_.Disconnect(reader, Unread::kIsLost);
    }
  }

  void Empty() {
    const StoreClientId client =
        store_.Connect(std::nullopt, StoreFraming::kModern);
    const auto ask = [&](StoreCommand command, std::string_view key) {
      store_.Send(client, {.command = command, .key = key});
      store_.DeliverRequest(client);
    };
    ask(StoreCommand::kDelete, "k");
    for (const std::string_view queue : kQueues) {
      while (store_.LengthOf(queue) > 0) ask(StoreCommand::kQueuePop, queue);
    }
  }

  std::mt19937 random_;
  const Told told_;
  RandomClient::Tally* const tally_;
  SimulatedStore store_;
  std::vector<std::unique_ptr<RandomClient>> clients_;
};

RandomClient::Tally Simulate(uint32_t first_seed, Told told,
                             size_t max_store_bytes) {
  constexpr uint32_t kSeeds = 150;
  constexpr int kSteps = 6000;
  RandomClient::Tally tally;
  for (uint32_t seed = first_seed;
       seed < first_seed + kSeeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    StoreSimulation(seed, told, max_store_bytes, &tally).Run(kSteps);
  }
  if (testing::Test::HasFailure()) return tally;
  // With all seeds together, many pops must have found an element, and many
  // waits must have been cancelled.
  EXPECT_GT(tally.found, 1000);
  EXPECT_GT(tally.canceled, 100);
  return tally;
}

TEST(StoreSimulationTest, AnOfferedClientFindsAnElement) {
  const auto tally = Simulate(0, Told::kFinds, kMuchRoom);
  EXPECT_EQ(tally.found_nothing, 0);
  EXPECT_EQ(tally.refused, 0);
}

TEST(StoreSimulationTest, NoClientWaitsWhileAnElementIsFree) {
  const auto tally = Simulate(100'000, Told::kMayFindNothing, kMuchRoom);
  EXPECT_GT(tally.found_nothing, 100);
  EXPECT_EQ(tally.refused, 0);
}

TEST(StoreSimulationTest, LittleRoomRefusesClientsAndBreaksNothing) {
  const auto tally = Simulate(200'000, Told::kMayFindNothing, kLittleRoom);
  EXPECT_GT(tally.refused, 100);
}

}  // namespace
}  // namespace muster::store
