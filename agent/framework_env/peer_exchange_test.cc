#include "agent/framework_env/peer_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "base/monotonic_clock.h"
#include "store/server/store_server.h"

namespace muster::agent {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PeerExchangeTest : public ::testing::Test {
 protected:
  PeerExchangeTest() : server_(store::StoreServer::Start({})) {}

  PeerMeeting Meeting(int rank, Duration timeout) {
    return {.host = "127.0.0.1",
            .port = (*server_)->port(),
            .rank = rank,
            .world_size = 3,
            .deadline = MonotonicNow() + timeout};
  }

  absl::StatusOr<std::unique_ptr<store::StoreServer>> server_;
};

TEST_F(PeerExchangeTest, EveryRankLearnsAllAddressesInOrder) {
  absl::StatusOr<std::vector<std::string>> told[3];
  std::thread ranks[3];
  for (int rank = 0; rank < 3; ++rank) {
    ranks[rank] = std::thread([&, rank] {
      told[rank] =
          ExchangeAddresses(Meeting(rank, std::chrono::seconds(60)), "tf",
                            "host" + std::to_string(rank) + ":1", 3);
    });
  }
  for (std::thread& rank : ranks) rank.join();
  for (const auto& addresses : told) {
    ASSERT_TRUE(addresses.ok()) << addresses.status();
    EXPECT_THAT(*addresses, ElementsAre("host0:1", "host1:1", "host2:1"));
  }
}

TEST_F(PeerExchangeTest, WantingRankZeroWaitsForRankZeroOnly) {
  ASSERT_TRUE(
      ExchangeAddresses(Meeting(0, std::chrono::seconds(60)), "tf", "a:1", 1)
          .ok());
  const auto told =
      ExchangeAddresses(Meeting(2, std::chrono::seconds(60)), "tf", "c:1", 1);
  ASSERT_TRUE(told.ok()) << told.status();
  EXPECT_THAT(*told, ElementsAre("a:1"));
}

TEST_F(PeerExchangeTest, TheAbsentAreNamed) {
  const absl::Status status =
      ExchangeAddresses(Meeting(1, std::chrono::milliseconds(50)), "tf", "b:1",
                        3)
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("waited 0."), HasSubstr("ranks 0, 2 of 3")));
}

TEST_F(PeerExchangeTest, EmptyAddressIsRefused) {
  EXPECT_FALSE(
      ExchangeAddresses(Meeting(1, std::chrono::seconds(60)), "tf", "", 3)
          .ok());
}

}  // namespace
}  // namespace muster::agent
