// Runs the fuzz target with pseudo-random inputs from fixed seeds, so that
// every test run has the same inputs. Also attacks a real server and a real
// relay: first with several clients that send such inputs at once, then with
// more bytes of incomplete requests than the server may buffer.

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/monotonic_clock.h"
#include "store/relay/store_relay.h"
#include "store/server/store_server.h"
#include "store/testing/raw_client.h"
#include "tests/fuzz/fuzz_case.h"
#include "tests/fuzz/store_bytes.h"

namespace muster {
namespace {

// Returns an input of the fuzz target: the requests of four clients, split at
// random positions.
std::string FuzzInput(uint64_t seed) {
  StoreBytes bytes(seed);
  std::string input;
  std::vector<std::string> pending(4);
  for (std::string& each : pending) each = bytes.Opening();
  for (int turn = 0; turn < 200; ++turn) {
    const size_t client = bytes.Below(4);
    std::string& unsent = pending[client];
    unsent += bytes.Request();
    const size_t size = std::min<size_t>(bytes.Below(256), unsent.size());
    // In the fuzz input, a client's turn begins with the byte 4 * round +
    // client. `round` is a random number; 63 means that the client disconnects,
    // which happens in one of 500 turns on average.
    const uint64_t round = bytes.Below(500) == 0 ? 63 : bytes.Below(63);
    input.push_back(static_cast<char>(round * 4 + client));
    input.push_back(static_cast<char>(size));
    input += unsent.substr(0, size);
    unsent.erase(0, size);
  }
  return input;
}

TEST(StoreFuzzTest, CoresKeepTheirInvariants) {
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(seed);
    RunFuzzCase(FuzzInput(seed));
  }
}

// Memory that all threads of this process have allocated with malloc, in bytes.
// A sanitizer's allocator is not counted.
size_t BytesInUse() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Attacks the store on `port`. Clients on eight connections send random bytes,
// never read, and are disconnected at random. Meanwhile the store must serve an
// honest client and a slow one.
void Assail(int port, uint64_t seed) {
  StoreBytes bytes(seed);
  store::RawClient honest(port);
  store::RawClient slow(port, store::RawClient::Greeting::kNone);
  const std::string key = "honest" + std::to_string(seed);
  std::string slowly;
  store::AppendRequest(
      {.command = store::StoreCommand::kValidate, .number = store::kStoreMagic},
      &slowly);
  store::AppendRequest(
      {.command = store::StoreCommand::kAdd, .key = key, .number = 1000},
      &slowly);
  std::vector<std::unique_ptr<store::RawClient>> bad(8);
  for (int turn = 0; turn < 400; ++turn) {
    std::unique_ptr<store::RawClient>& client = bad[bytes.Below(bad.size())];
    if (client == nullptr || bytes.Below(30) == 0) {
      client = std::make_unique<store::RawClient>(
          port, store::RawClient::Greeting::kNone);
      client->SendWhatFits(bytes.Opening());
    }
    for (uint64_t i = bytes.Below(10); i > 0; --i) {
      client->SendWhatFits(bytes.Request());
    }
    // The slow client sends one byte per turn; the other clients' requests
    // arrive in between.
    if (static_cast<size_t>(turn) < slowly.size()) {
      slow.Send(slowly.substr(turn, 1));
    }
    if (turn % 10 == 0) {
      honest.Set(key + "v", std::to_string(turn));
      ASSERT_EQ(honest.Get(key + "v"), std::to_string(turn)) << seed;
    }
  }
  EXPECT_EQ(slow.Reply({.command = store::StoreCommand::kAdd}).number, 1000);
  EXPECT_EQ(honest.Add(key, 1), 1001);
}

constexpr size_t kBudget = size_t{8} << 20;

// Attacks the store on `port`. Clients send half a request each and stay
// connected. Together they send seven times as many bytes as the server may
// buffer. The server must close enough of these connections, and must serve an
// honest client meanwhile.
void SendHalves(int port) {
  constexpr size_t kHalf = size_t{1} << 20;
  constexpr int kClients = 7 * kBudget / kHalf;
  // Number of replies to the honest client after which the server must have
  // read a hostile client's half request. The server reads the half request in
  // at most 16 turns of its event loop. In each turn it sends at most one reply
  // to the honest client.
  constexpr int kTurns = 16;
  std::string half;
  store::AppendRequest({.command = store::StoreCommand::kSet,
                        .key = "half",
                        .value = std::string(2 * kHalf, '7')},
                       &half);
  half.resize(kHalf);
  store::RawClient honest(port);
  std::vector<std::unique_ptr<store::RawClient>> clients;
  int64_t turns = 0;
  size_t most = 0;
  const size_t before = BytesInUse();
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<store::RawClient>(port));
    clients.back()->Send(half);
    for (int turn = 0; turn < kTurns; ++turn) {
      ASSERT_EQ(honest.Add("turns", 1), ++turns);
    }
    most = std::max(most, BytesInUse() - std::min(before, BytesInUse()));
  }
  size_t held = 0;
  for (const auto& client : clients) held += client->HasInput() ? 0 : kHalf;
  EXPECT_LE(held, kBudget) << "those who are left have sent more";
  EXPECT_GE(held, kBudget / 4) << "more are ended than need be";
  // The server may use twice its limit for a moment: while a string grows, its
  // old and its new buffer both exist.
  EXPECT_LT(most, 2 * kBudget);
  clients.clear();
  // Let the server's event loop run some turns, so that it notices the closed
  // connections.
  for (int turn = 0; turn < kTurns; ++turn) honest.Add("turns", 1);
  EXPECT_LT(BytesInUse(), before + kHalf) << "some of it is never freed";
}

TEST(StoreFuzzTest, AServerServesHonestClientsAmongBadOnes) {
  store::StoreServerOptions options;
  options.max_store_bytes = size_t{16} << 20;
  options.max_buffer_bytes = size_t{16} << 20;
  auto server = store::StoreServer::Start(std::move(options));
  ASSERT_TRUE(server.ok()) << server.status();
  for (uint64_t seed = 1; seed <= 20; ++seed) Assail((*server)->port(), seed);
}

TEST(StoreFuzzTest, ARelayServesHonestClientsAmongBadOnes) {
  auto server = store::StoreServer::Start({});
  ASSERT_TRUE(server.ok()) << server.status();
  store::StoreRelayOptions options;
  options.upstream_host = "127.0.0.1";
  options.upstream_port = (*server)->port();
  options.deadline = MonotonicNow() + std::chrono::seconds(30);
  auto relay = store::StoreRelay::Start(std::move(options));
  ASSERT_TRUE(relay.ok()) << relay.status();
  for (uint64_t seed = 1; seed <= 10; ++seed) Assail((*relay)->port(), seed);
}

TEST(StoreFuzzTest, AServerBoundsIncompleteRequests) {
  store::StoreServerOptions options;
  options.max_buffer_bytes = kBudget;
  auto server = store::StoreServer::Start(std::move(options));
  ASSERT_TRUE(server.ok()) << server.status();
  SendHalves((*server)->port());
}

TEST(StoreFuzzTest, ARelayBoundsIncompleteRequests) {
  auto server = store::StoreServer::Start({});
  ASSERT_TRUE(server.ok()) << server.status();
  store::StoreRelayOptions options;
  options.upstream_host = "127.0.0.1";
  options.upstream_port = (*server)->port();
  options.deadline = MonotonicNow() + std::chrono::seconds(30);
  options.max_buffer_bytes = kBudget;
  auto relay = store::StoreRelay::Start(std::move(options));
  ASSERT_TRUE(relay.ok()) << relay.status();
  SendHalves((*relay)->port());
}

}  // namespace
}  // namespace muster
