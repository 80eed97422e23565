#include "store/server/store_hub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/little_endian.h"
#include "store/server/hub_events.h"
#include "store/server/listening_socket.h"
#include "store/server/store_connection.h"
#include "store/testing/raw_client.h"

namespace muster::store {
namespace {

// A service for tests. Answers PING. Sends upstream the value of each SET, and
// "gone" for each client that disconnects. Passes what comes from upstream to
// the client of the last SET. After ADD of n, sends "tick" upstream at each of
// the next n ticks.
class PingService : public StoreService {
 public:
  void OnRequest(StoreClientId client, StoreFraming,
                 const StoreRequest& request, StoreEffects* effects) override {
    if (request.command == StoreCommand::kAdd) {
      ticks_left_ = request.number;
    } else if (request.command == StoreCommand::kSet) {
      sender_ = client;
      effects->AddReply(kUpstreamClient)->append(request.value);
    } else if (request.command == StoreCommand::kPing) {
      AppendInteger(static_cast<uint32_t>(request.number),
                    effects->AddReply(client));
    }
  }
  bool MayGoOn(StoreClientId) const override { return true; }
  size_t bytes() const override { return 0; }
  bool WantsTicks() const override { return ticks_left_ > 0; }
  void OnTick(StoreEffects* effects) override {
    --ticks_left_;
    effects->AddReply(kUpstreamClient)->append("tick");
  }
  void OnGone(StoreClientId, StoreEffects* effects) override {
    effects->AddReply(kUpstreamClient)->append("gone");
  }
  absl::StatusOr<size_t> OnUpstream(std::string_view bytes,
                                    StoreEffects* effects) override {
    effects->AddReply(sender_)->append(bytes);
    return bytes.size();
  }

 private:
  StoreClientId sender_ = 0;
  int64_t ticks_left_ = 0;
};

// Half of a WAIT for 100,000 empty keys takes more memory in the parser than on
// the wire. StoreConnection::Memory must count the memory of the parser.
TEST(StoreConnectionTest, MemoryIncludesTheParser) {
  std::string bytes;
  AppendRequest({.command = StoreCommand::kWait,
                 .keys = std::vector<std::string_view>(100'000)},
                &bytes);
  StoreConnection connection;
  connection.parser = RequestParser(StoreFraming::kModern);
  const size_t idle = connection.Memory();
  StoreRequest request;
  const std::string_view half = std::string_view(bytes).substr(0, 700'000);
  ASSERT_EQ(*connection.parser.Parse(half, &request), 0);
  EXPECT_GE(connection.Memory(), idle + 2 * half.size() - 100);
  ASSERT_EQ(*connection.parser.Parse(bytes, &request), bytes.size());
  EXPECT_LT(connection.Memory(), idle + 4096);
}

// Runs a hub on a free port until the end of the test.
class Serving {
 public:
  Serving(size_t max_connections, OwnedFd upstream) {
    auto listener = ListenOn("127.0.0.1", 0);
    EXPECT_TRUE(listener.ok()) << listener.status();
    port_ = *LocalPort(*listener);
    hub_.emplace(StoreHubOptions{.listener = *std::move(listener),
                                 .upstream = std::move(upstream),
                                 .max_connections = max_connections,
                                 .max_buffer_bytes = size_t{64} << 20,
                                 .tick = std::chrono::milliseconds(1)},
                 &service_);
    EXPECT_TRUE(hub_->Prepare().ok());
    EXPECT_TRUE(thread_.Start("hub", [this] { served_ = hub_->Run(); }).ok());
  }
  ~Serving() {
    hub_->Stop();
    thread_.Join();
    EXPECT_TRUE(served_.ok()) << served_;
  }
  int port() const { return port_; }
  // Waits until the hub ends by itself; returns its status.
  absl::Status End() {
    thread_.Join();
    return std::exchange(served_, absl::OkStatus());
  }

 private:
  PingService service_;
  int port_ = 0;
  std::optional<StoreHub> hub_;
  absl::Status served_;
  HubThread thread_;
};

// A hub with an upstream connection forwards requests of its clients to this
// connection. If the peer of this connection does not read, the hub must still
// read from the connection. Otherwise both sides would wait for each other.
TEST(StoreHubTest, AnUpstreamThatDoesNotReadIsReadFrom) {
  constexpr size_t kBytes = size_t{8} << 20;
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  const OwnedFd upstream(ends[1]);
  const Serving hub(9, OwnedFd(ends[0]));
  RawClient client(hub.port());
  client.Set("k", std::string(kBytes, 'v'));
  // The client has sent a SET whose value is larger than the buffer of the
  // connection to the upstream, and now sends a PING. While this buffer is
  // full, the hub handles no further request of the client. So the hub answers
  // the PING only after the upstream has read most of the value.
  client.Send({.command = StoreCommand::kPing, .number = 3});
  pollfd sent{.fd = upstream.get(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&sent, 1, 30'000), 1);
  ASSERT_EQ(send(upstream.get(), "word", 4, 0), 4);
  EXPECT_EQ(client.Receive(4), "word");
  EXPECT_FALSE(client.HasInput());
  std::string buffer(1 << 20, '\0');
  for (size_t got = 0; got < kBytes;) {
    ASSERT_EQ(poll(&sent, 1, 30'000), 1);
    const ssize_t count = recv(upstream.get(), buffer.data(), buffer.size(), 0);
    ASSERT_GT(count, 0);
    got += static_cast<size_t>(count);
  }
  EXPECT_EQ(client.Reply({.command = StoreCommand::kPing}).number, 3);
}

// The end of a hub's upstream connection (to the store's server) is a failure
// while clients are connected, or before the first client has connected. It is
// no failure after all clients have disconnected: after a successful round the
// store closes once the workers have exited.
TEST(StoreHubTest, AnUpstreamsEndIsAFailureForClientsThatAreThereOrMayCome) {
  enum class Clients { kNone, kOne, kOneThatLeft };
  for (const auto clients :
       {Clients::kNone, Clients::kOne, Clients::kOneThatLeft}) {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    OwnedFd upstream(ends[1]);
    Serving hub(9, OwnedFd(ends[0]));
    std::optional<RawClient> client;
    if (clients != Clients::kNone) {
      client.emplace(hub.port());
      EXPECT_EQ(
          client->Ask({.command = StoreCommand::kPing, .number = 3}).number, 3);
    }
    if (clients == Clients::kOneThatLeft) {
      client->Close();
      pollfd told{.fd = upstream.get(), .events = POLLIN, .revents = 0};
      ASSERT_EQ(poll(&told, 1, 30'000), 1);
    }
    upstream.Close();
    EXPECT_EQ(hub.End().ok(), clients == Clients::kOneThatLeft);
  }
}

// If a service wants ticks, it gets them even while no socket event occurs.
TEST(StoreHubTest, AServiceHasTheTicksItWants) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  const OwnedFd upstream(ends[1]);
  const Serving hub(9, OwnedFd(ends[0]));
  RawClient client(hub.port());
  for (int64_t ticks = 3; ticks > 0; --ticks) {
    client.Send({.command = StoreCommand::kAdd, .key = "n", .number = ticks});
    std::string told;
    while (told.size() < static_cast<size_t>(ticks) * 4) {
      pollfd more{.fd = upstream.get(), .events = POLLIN, .revents = 0};
      ASSERT_EQ(poll(&more, 1, 30'000), 1) << told;
      char bytes[64];
      const ssize_t count = recv(upstream.get(), bytes, sizeof(bytes), 0);
      ASSERT_GT(count, 0);
      told.append(bytes, static_cast<size_t>(count));
    }
    EXPECT_EQ(told.size(), static_cast<size_t>(ticks) * 4) << told;
  }
}

TEST(StoreHubTest, BeyondItsConnectionsNewOnesWait) {
  const Serving hub(2, OwnedFd());
  RawClient first(hub.port());
  RawClient second(hub.port());
  RawClient third(hub.port(), RawClient::Greeting::kNone);
  third.Send({.command = StoreCommand::kValidate, .number = kStoreMagic});
  const StoreRequest ping = {.command = StoreCommand::kPing, .number = 3};
  third.Send(ping);
  EXPECT_EQ(second.Ask(ping).number, 3);
  EXPECT_FALSE(third.HasInput());
  first.Close();
  EXPECT_EQ(third.Reply(ping).number, 3);
}

}  // namespace
}  // namespace muster::store
