#include "store/server/store_hub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "store/server/hub_thread.h"
#include "store/server/listening_socket.h"
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
