#include "store/relay/store_relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/channel_key.h"
#include "base/little_endian.h"
#include "base/monotonic_clock.h"
#include "base/net/socket_address.h"
#include "base/net/tls_stream.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "store/server/listening_socket.h"
#include "store/server/store_server.h"
#include "store/testing/raw_client.h"
#include "store/wire/request.h"

namespace muster::store {
namespace {

using ::testing::HasSubstr;

using C = StoreCommand;

StoreRelayOptions To(int port) {
  StoreRelayOptions options;
  options.upstream_host = "127.0.0.1";
  options.upstream_port = port;
  options.deadline = MonotonicNow() + std::chrono::seconds(30);
  return options;
}

class StoreRelayTest : public testing::Test {
 protected:
  StoreRelayTest() {
    auto server = StoreServer::Start({});
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    for (auto* relay : {&a_, &b_}) {
      auto started = StoreRelay::Start(To(server_->port()));
      EXPECT_TRUE(started.ok()) << started.status();
      *relay = *std::move(started);
    }
  }

  std::unique_ptr<StoreServer> server_;
  std::unique_ptr<StoreRelay> a_;
  std::unique_ptr<StoreRelay> b_;
};

TEST_F(StoreRelayTest, ClientsOfSeveralRelaysShareOneStore) {
  RawClient one(a_->port());
  RawClient two(b_->port());
  RawClient direct(server_->port());
  one.Set("k", "v");
  EXPECT_EQ(one.Get("k"), "v") << "it reads what it wrote";
  EXPECT_EQ(two.Add("n", 1), 1);
  EXPECT_EQ(direct.Add("n", 1), 2);
  EXPECT_EQ(two.Get("k"), "v");
  EXPECT_EQ(direct.Get("k"), "v");
  const std::string large(kMaxStoreValueBytes, 'v');
  two.Set("large", large);
  EXPECT_TRUE(two.Get("large") == large);
}

TEST_F(StoreRelayTest, AWaitBlocksNoOtherClientAndEndsForAll) {
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(
        std::make_unique<RawClient>(i % 2 == 0 ? a_->port() : b_->port()));
    clients.back()->StartWait("k");
  }
  RawClient other(a_->port());
  EXPECT_EQ(other.Add("n", 1), 1);
  other.Set("k", "v");
  for (const auto& client : clients) {
    EXPECT_TRUE(client->Released());
    client->Send({.command = C::kGet, .key = "k"});
  }
  for (const auto& client : clients) {
    EXPECT_EQ(client->Reply({.command = C::kGet}).strings.at(0), "v");
  }
}

TEST_F(StoreRelayTest, ABarrierAcrossRelays) {
  RawClient one(a_->port());
  RawClient two(a_->port());
  RawClient three(b_->port());
  const StoreRequest barrier = {
      .command = C::kBarrier, .key = "b", .number = 3};
  one.Send(barrier);
  two.Send(barrier);
  EXPECT_EQ(two.Add("n", 1), 1);
  three.Send(barrier);
  EXPECT_TRUE(one.Released());
  EXPECT_TRUE(two.Released());
  EXPECT_TRUE(three.Released());
}

TEST_F(StoreRelayTest, EachElementOfAQueueGoesToOne) {
  std::vector<std::unique_ptr<RawClient>> clients;
  const StoreRequest pop = {.command = C::kQueuePop, .key = "q"};
  for (int i = 0; i < 6; ++i) {
    clients.push_back(
        std::make_unique<RawClient>(i % 2 == 0 ? a_->port() : b_->port()));
    clients.back()->StartWait("q");
    // The relay handles a client's requests in order. So the reply to ADD shows
    // that it has handled the client's WAIT.
    clients.back()->Add("n", 1);
  }
  RawClient pusher(server_->port());
  for (int i = 0; i < 6; ++i) {
    pusher.Send({.command = C::kQueuePush, .key = "q", .value = "element"});
  }
  for (const auto& client : clients) {
    ASSERT_TRUE(client->Released());
    EXPECT_THAT(client->Ask(pop).strings, testing::ElementsAre("element"));
  }
}

TEST_F(StoreRelayTest, PipelinedRequestsAreAnsweredInOrder) {
  RawClient client(a_->port());
  RawClient other(a_->port());
  std::string bytes;
  for (int i = 0; i < 500; ++i) {
    AppendRequest({.command = C::kAdd, .key = "n", .number = 1}, &bytes);
    AppendRequest({.command = C::kGet, .key = "n"}, &bytes);
  }
  client.Send(bytes);
  for (int i = 1; i <= 500; ++i) {
    ASSERT_EQ(client.Reply({.command = C::kAdd}).number, i);
    ASSERT_EQ(client.Reply({.command = C::kGet}).strings.at(0),
              std::to_string(i));
    other.Get("n");
  }
}

// Many clients read the value at once. All replies together exceed the limit of
// the relay's buffers.
TEST_F(StoreRelayTest, ManyReadersOfALargeValueAreAllServed) {
  StoreRelayOptions options = To(server_->port());
  options.max_buffer_bytes = 4 * kMaxStoreValueBytes;
  options.timeout = std::chrono::seconds(30);
  auto relay = StoreRelay::Start(std::move(options));
  ASSERT_TRUE(relay.ok()) << relay.status();
  RawClient setter(server_->port());
  const std::string value(kMaxStoreValueBytes, 'v');
  setter.Set("k", value);
  EXPECT_EQ(setter.Add("n", 1), 1);
  std::string reply;
  AppendInteger(uint64_t{value.size()}, &reply);
  reply += value;
  ManyClients readers((*relay)->port(), 20);
  readers.SendByAll({.command = C::kGet, .key = "k"});
  EXPECT_EQ(readers.CountReceivers(reply), 20);
}

TEST_F(StoreRelayTest, AClientThatDoesNotReadDoesNotDelayTheOthers) {
  StoreRelayOptions options = To(server_->port());
  options.max_buffer_bytes = 4 * kMaxStoreValueBytes;
  options.timeout = std::chrono::milliseconds(100);
  auto relay = StoreRelay::Start(std::move(options));
  ASSERT_TRUE(relay.ok()) << relay.status();
  RawClient other((*relay)->port());
  other.Set("k", std::string(kMaxStoreValueBytes, 'v'));
  EXPECT_EQ(other.Add("n", 1), 1);
  auto deaf = std::make_unique<ManyClients>((*relay)->port(), 6);
  deaf->SendByAll({.command = C::kGet, .key = "k"});
  for (int i = 2; i < 100; ++i) ASSERT_EQ(other.Add("n", 1), i);
  deaf.reset();
  EXPECT_EQ(other.Get("k").size(), kMaxStoreValueBytes);
}

TEST_F(StoreRelayTest, ARuleThatOneBreaksEndsItsConnectionOnly) {
  RawClient good(a_->port());
  RawClient bad(a_->port());
  good.Set("text", "no number");
  EXPECT_EQ(good.Get("text"), "no number");
  bad.Send({.command = C::kAdd, .key = "text", .number = 1});
  EXPECT_TRUE(bad.Ended());
  EXPECT_EQ(good.Add("n", 1), 1);
}

TEST_F(StoreRelayTest, AClosedClientIsClosedUpstream) {
  RawClient leaver(a_->port());
  leaver.Send({.command = C::kBarrier, .key = "b", .number = 3});
  EXPECT_EQ(leaver.Add("n", 1), 1);
  leaver.Close();
  RawClient direct(server_->port());
  // Key "b" counts the clients that have arrived at the barrier. Wait until the
  // server no longer counts the closed client.
  while (direct.Get("b") != "0") {
  }
}

TEST_F(StoreRelayTest, TheUpstreamsEndIsEverybodys) {
  RawClient waiter(a_->port());
  waiter.StartWait("k");
  EXPECT_EQ(waiter.Add("n", 1), 1);
  RawClient idle(b_->port());
  server_->Close("the round is over");
  EXPECT_TRUE(waiter.Ended());
  EXPECT_TRUE(idle.Ended());
}

TEST_F(StoreRelayTest, ClosingEndsItsOwnClientsOnly) {
  RawClient mine(a_->port());
  mine.StartWait("k");
  EXPECT_EQ(mine.Add("n", 1), 1);
  RawClient others(b_->port());
  a_->Close();
  EXPECT_TRUE(mine.Ended());
  EXPECT_EQ(others.Add("n", 1), 2);
}

TEST_F(StoreRelayTest, ARelayOfARelayIsRefused) {
  const auto relay = StoreRelay::Start(To(a_->port()));
  EXPECT_EQ(relay.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(relay.status().message()),
              HasSubstr("it takes no relay"));
}

TEST(StoreRelayStartTest, NamesTheUnreachableStore) {
  auto listener = ListenOn("127.0.0.1", 0);
  ASSERT_TRUE(listener.ok());
  const int port = *LocalPort(*listener);
  StoreRelayOptions silent = To(port);
  silent.deadline = MonotonicNow() + std::chrono::milliseconds(100);
  EXPECT_EQ(StoreRelay::Start(std::move(silent)).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  listener->Close();
  StoreRelayOptions refused = To(port);
  refused.deadline = MonotonicNow() + std::chrono::milliseconds(100);
  const auto relay = StoreRelay::Start(std::move(refused));
  EXPECT_EQ(relay.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(relay.status().message()),
              HasSubstr("127.0.0.1 port " + std::to_string(port)));
}

TlsContext Tls(char fill) {
  return TlsContext::Make(std::string(kChannelKeyBytes, fill), kRelayPurpose)
      .value();
}

// A store that requires TLS, and a relay that has the key.
class EncryptedRelayTest : public testing::Test {
 protected:
  EncryptedRelayTest() {
    StoreServerOptions options;
    options.tls = Tls('k');
    // The list of addresses that may use clear text is empty. So even
    // connections from this host must be encrypted.
    options.clear_text_clients = AddressSet();
    options.on_notice = [this](const std::string& sentence) {
      const std::lock_guard<std::mutex> lock(mutex_);
      notices_ += sentence + "\n";
    };
    auto server = StoreServer::Start(std::move(options));
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    auto relay = StoreRelay::Start(With('k'));
    EXPECT_TRUE(relay.ok()) << relay.status();
    relay_ = *std::move(relay);
  }

  StoreRelayOptions With(char fill) {
    StoreRelayOptions options = To(server_->port());
    options.tls = Tls(fill);
    return options;
  }
  std::string Notices() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return notices_;
  }

  std::mutex mutex_;
  std::string notices_;
  std::unique_ptr<StoreServer> server_;
  std::unique_ptr<StoreRelay> relay_;
};

TEST_F(EncryptedRelayTest, RelaysLargeAndManyRequests) {
  RawClient one(relay_->port());
  RawClient two(relay_->port());
  const std::string large(kMaxStoreValueBytes, 'v');
  for (int i = 0; i < 3; ++i) {
    one.Set("large", large);
    EXPECT_TRUE(one.Get("large") == large);
    EXPECT_TRUE(two.Get("large") == large);
  }
  std::string bytes;
  for (int i = 0; i < 500; ++i) {
    AppendRequest({.command = C::kAdd, .key = "n", .number = 1}, &bytes);
    AppendRequest({.command = C::kGet, .key = "n"}, &bytes);
  }
  one.Send(bytes);
  for (int i = 1; i <= 500; ++i) {
    ASSERT_EQ(one.Reply({.command = C::kAdd}).number, i);
    ASSERT_EQ(one.Reply({.command = C::kGet}).strings.at(0), std::to_string(i));
  }
  one.StartWait("late");
  two.Set("late", "v");
  EXPECT_TRUE(one.Released());
}

// Slow readers fill the socket buffers in both directions, so that encrypted
// records wait in the TlsStream.
TEST_F(EncryptedRelayTest, RepliesThatDoNotFitArriveOnceTheyAreRead) {
  RawClient one(relay_->port());
  one.Set("k", std::string(1 << 20, 'v'));
  const StoreRequest get = {.command = C::kGet, .key = "k"};
  constexpr int kRequests = 40;
  for (int i = 0; i < kRequests; ++i) one.Send(get);
  for (int i = 0; i < kRequests; ++i) {
    ASSERT_EQ(one.Reply(get).strings.at(0).size(), size_t{1} << 20) << i;
  }
}

TEST_F(EncryptedRelayTest, ClearTextFromAnotherHostIsRefused) {
  RawClient stranger(server_->port(), RawClient::Greeting::kNone);
  stranger.Send({.command = C::kValidate, .number = kStoreMagic});
  stranger.Send({.command = C::kSet, .key = "k", .value = "v"});
  EXPECT_TRUE(stranger.Ended());
  EXPECT_THAT(Notices(), HasSubstr("key of this round"));
  RawClient one(relay_->port());
  EXPECT_EQ(one.Add("n", 1), 1) << "the others are served";
}

TEST_F(EncryptedRelayTest, RelayWithAnotherKeyIsRefused) {
  StoreRelayOptions options = With('x');
  options.deadline = MonotonicNow() + std::chrono::milliseconds(50);
  EXPECT_TRUE(
      absl::IsPermissionDenied(StoreRelay::Start(std::move(options)).status()));
}

TEST_F(EncryptedRelayTest, RelayWithoutAKeyIsRefused) {
  StoreRelayOptions options = To(server_->port());
  options.deadline = MonotonicNow() + std::chrono::milliseconds(50);
  EXPECT_FALSE(StoreRelay::Start(std::move(options)).ok());
}

// A client that begins a TLS handshake and stays silent delays no other client.
TEST_F(EncryptedRelayTest, HalfOpenHandshakeHoldsUpNobody) {
  RawClient silent(server_->port(), RawClient::Greeting::kNone);
  silent.Send(std::string("\x16\x03\x01\x02", 4));
  RawClient one(relay_->port());
  EXPECT_EQ(one.Add("n", 1), 1);
}

TEST(EncryptedStore, ClientsOnItsOwnHostSpeakClearText) {
  StoreServerOptions options;
  options.tls = Tls('k');
  auto server = StoreServer::Start(std::move(options));
  ASSERT_TRUE(server.ok()) << server.status();
  StoreRelayOptions to = To((*server)->port());
  to.tls = Tls('k');
  auto relay = StoreRelay::Start(std::move(to));
  ASSERT_TRUE(relay.ok()) << relay.status();
  RawClient direct((*server)->port());
  RawClient relayed((*relay)->port());
  direct.Set("k", "v");
  EXPECT_EQ(relayed.Get("k"), "v");
}

TEST(EncryptedStore, RelayRefusesAStoreWithoutTheKey) {
  auto server = StoreServer::Start({});
  ASSERT_TRUE(server.ok()) << server.status();
  StoreRelayOptions options = To((*server)->port());
  options.tls = Tls('k');
  options.deadline = MonotonicNow() + std::chrono::milliseconds(50);
  EXPECT_FALSE(StoreRelay::Start(std::move(options)).ok());
}

SocketAddress Local(int port) {
  return NumericAddress("127.0.0.1", port).value();
}

class UpstreamConnectionTest : public testing::Test {
 protected:
  UpstreamConnectionTest() : server_(*StoreServer::Start({})) {}

  // Tries `first`, then the server's address, which is listed 39 times. The
  // time limit of 20 s is divided among the 40 addresses, so the attempt at
  // `first` ends after half a second.
  absl::StatusOr<StreamSocket> ConnectAfter(const SocketAddress& first) {
    std::vector<SocketAddress> addresses(40, Local(server_->port()));
    addresses[0] = first;
    return ConnectUpstream(addresses, std::nullopt,
                           MonotonicNow() + std::chrono::seconds(20));
  }

  const std::unique_ptr<StoreServer> server_;
};

TEST_F(UpstreamConnectionTest, AnAddressThatRefusesIsPassedOver) {
  auto closed = ListenOn("127.0.0.1", 0);
  const SocketAddress refusing = Local(*LocalPort(*closed));
  closed->Close();
  const auto fd =
      ConnectUpstream({refusing, Local(server_->port())}, std::nullopt,
                      MonotonicNow() + std::chrono::seconds(30));
  EXPECT_TRUE(fd.ok()) << fd.status();
}

// A listener that never accepts: the kernel completes the connection, but no
// byte arrives.
TEST_F(UpstreamConnectionTest, AnAddressThatIsSilentLeavesTimeForTheNext) {
  const auto silent = ListenOn("127.0.0.1", 0);
  const auto fd = ConnectAfter(Local(*LocalPort(*silent)));
  EXPECT_TRUE(fd.ok()) << fd.status();
}

// A listener with a full backlog: the kernel does not answer connection
// attempts.
TEST_F(UpstreamConnectionTest, ABlackHoleLeavesTimeForTheNext) {
  const auto full = ListenOn("127.0.0.1", 0);
  ASSERT_EQ(listen(full->get(), 0), 0);
  const SocketAddress hole = Local(*LocalPort(*full));
  std::vector<OwnedFd> fill;
  for (int i = 0; i < 4; ++i) {
    fill.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    // The kernel leaves connections beyond the backlog pending for ever.
    static_cast<void>(connect(fill.back().get(), hole.get(), hole.size));
  }
  const auto fd = ConnectAfter(hole);
  EXPECT_TRUE(fd.ok()) << fd.status();
}

TEST_F(UpstreamConnectionTest, ReturnsTheErrorOfTheLastAddress) {
  const auto silent = ListenOn("127.0.0.1", 0);
  const auto fd =
      ConnectUpstream({Local(*LocalPort(*silent))}, std::nullopt,
                      MonotonicNow() + std::chrono::milliseconds(20));
  EXPECT_EQ(fd.status().code(), absl::StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace muster::store
