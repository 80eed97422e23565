#include "store/server/store_hub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/server/hub_thread.h"
#include "store/server/listening_socket.h"
#include "store/server/store_connection.h"
#include "store/testing/raw_client.h"
#include "store/wire/little_endian.h"

namespace muster {
namespace {

// Answers pings, and nothing else.
class PingService : public StoreService {
 public:
  void OnRequest(StoreClientId client, StoreFraming,
                 const StoreRequest& request, StoreEffects* effects) override {
    if (request.command != StoreCommand::kPing) return;
    AppendInteger(static_cast<uint32_t>(request.number),
                  effects->AddReply(client));
  }
  bool MayGoOn(StoreClientId) const override { return true; }
  void OnGone(StoreClientId, StoreEffects*) override {}
  absl::StatusOr<size_t> OnUpstream(std::string_view, StoreEffects*) override {
    return absl::InternalError("none");
  }
};

// Empty keys take more to remember than to send.
TEST(StoreConnectionTest, CountsWhatItsParserHolds) {
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

TEST(StoreHubTest, BeyondItsConnectionsNewOnesWait) {
  auto listener = ListenOn("127.0.0.1", 0);
  ASSERT_TRUE(listener.ok()) << listener.status();
  const int port = *LocalPort(*listener);
  PingService service;
  StoreHub hub({.listener = *std::move(listener),
                .max_connections = 2,
                .max_buffer_bytes = 1 << 20},
               &service);
  ASSERT_TRUE(hub.Prepare().ok());
  absl::Status served;
  HubThread thread;
  ASSERT_TRUE(thread.Start("hub", [&] { served = hub.Run(); }).ok());
  {
    RawClient first(port);
    RawClient second(port);
    RawClient third(port, RawClient::Greeting::kNone);
    third.Send({.command = StoreCommand::kValidate, .number = kStoreMagic});
    const StoreRequest ping = {.command = StoreCommand::kPing, .number = 3};
    third.Send(ping);
    EXPECT_EQ(second.Ask(ping).number, 3);
    EXPECT_FALSE(third.HasInput());
    first.Close();
    EXPECT_EQ(third.Reply(ping).number, 3);
  }
  hub.Stop();
  thread.Join();
  EXPECT_TRUE(served.ok()) << served;
}

}  // namespace
}  // namespace muster
