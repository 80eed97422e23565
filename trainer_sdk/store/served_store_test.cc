// Tests the client, TcpStore, with Muster's own server, StoreServer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/monotonic_clock.h"
#include "store/relay/store_relay.h"
#include "store/server/store_server.h"
#include "trainer_sdk/store/prefix_store.h"
#include "trainer_sdk/store/store_barrier.h"
#include "trainer_sdk/store/tcp_store.h"
#include "trainer_sdk/store/testing/store_contract.h"

namespace muster {
namespace {

Instant Late() { return MonotonicNow() + std::chrono::seconds(30); }

std::unique_ptr<store::StoreServer> Serve() {
  return store::StoreServer::Start({.address = "127.0.0.1"}).value();
}

std::unique_ptr<store::StoreRelay> RelayOf(const store::StoreServer& server) {
  return store::StoreRelay::Start({.upstream_host = "127.0.0.1",
                                   .upstream_port = server.port(),
                                   .deadline = Late(),
                                   .address = "127.0.0.1"})
      .value();
}

std::unique_ptr<TcpStore> ClientOf(int port) {
  return TcpStore::Connect(
             {.host = "127.0.0.1", .port = port, .connect_deadline = Late()})
      .value();
}

// Returns a client of the store on `port`, with a prefix that no other test
// uses.
std::shared_ptr<Store> Fresh(int port) {
  static int made = 0;
  return std::make_shared<PrefixStore>("test" + std::to_string(++made),
                                       ClientOf(port));
}

// The server that all StoreContract tests of this file share. So these tests
// also show that a test is not disturbed by keys that earlier tests have left
// on the server.
store::StoreServer& SharedServer() {
  static store::StoreServer& server = *Serve().release();
  return server;
}

std::shared_ptr<Store> AtServer() { return Fresh(SharedServer().port()); }

std::shared_ptr<Store> AtRelay() {
  static store::StoreRelay& relay = *RelayOf(SharedServer()).release();
  return Fresh(relay.port());
}

INSTANTIATE_TEST_SUITE_P(Served, StoreContract,
                         testing::Values(StoreMaker{"AtServer", &AtServer},
                                         StoreMaker{"AtRelay", &AtRelay}),
                         StoreContract::NameOf);

TEST(ServedStore, WaitersAreReleasedWhenTheRoundIsOver) {
  auto server = Serve();
  auto store = ClientOf(server->port());
  auto waiting = std::async(std::launch::async,
                            [&store] { return store->Wait({"k"}, Late()); });
  ASSERT_TRUE(store->Add("n", 1).ok());
  // Close must end the wait of the other thread, whether or not its WAIT
  // request has reached the server by now.
  server->Close("the round is over");
  absl::Status released = waiting.get();
  EXPECT_TRUE(absl::IsUnavailable(released)) << released;
  EXPECT_TRUE(absl::IsUnavailable(store->Add("n", 1).status()));
}

TEST(ServedStore, ManyRanksMeetAtABarrierOverAndOver) {
  constexpr int kSize = 8, kTimes = 5;
  auto server = Serve();
  std::vector<std::thread> ranks;
  ranks.reserve(kSize);
  for (int rank = 0; rank < kSize; ++rank) {
    ranks.emplace_back([&server, rank] {
      auto store = ClientOf(server->port());
      for (int time = 0; time < kTimes; ++time) {
        absl::Status met = StoreBarrier(*store, "b", rank, kSize, Late());
        EXPECT_TRUE(met.ok()) << met;
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
}

}  // namespace
}  // namespace muster
