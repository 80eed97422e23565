#include "trainer_sdk/session/host_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/monotonic_clock.h"
#include "trainer_sdk/store/in_process_store.h"

namespace muster {
namespace {

TEST(PlacesOf, CountsHostsInTheOrderOfTheirLowestRanks) {
  auto places = PlacesOf({"z", "a", "z", "m", "z"});
  ASSERT_EQ(places.size(), 3u);
  EXPECT_EQ(places["z"], (HostPlace{0, 3, 3}));
  EXPECT_EQ(places["a"], (HostPlace{1, 3, 1}));
  EXPECT_EQ(places["m"], (HostPlace{2, 3, 1}));
}

TEST(AgreeOnPlaces, GivesEachRankItsOwn) {
  const std::vector<std::string> hosts = {"b", "a", "b", "a", "a"};
  InProcessStore store;
  std::vector<std::thread> ranks;
  ranks.reserve(5);
  for (int rank = 0; rank < 5; ++rank) {
    ranks.emplace_back([&, rank] {
      const auto place =
          AgreeOnPlaces(store, rank, 5, hosts[rank],
                        MonotonicNow() + std::chrono::seconds(30));
      ASSERT_TRUE(place.ok()) << place.status();
      EXPECT_EQ(*place, hosts[rank] == "b" ? (HostPlace{0, 2, 2})
                                           : (HostPlace{1, 2, 3}));
    });
  }
  for (std::thread& rank : ranks) rank.join();
}

TEST(AgreeOnPlaces, NamesARankThatDoesNotCome) {
  InProcessStore store;
  ASSERT_TRUE(store.Set("host/2", "x").ok());
  absl::Status late =
      AgreeOnPlaces(store, 0, 3, "x",
                    MonotonicNow() + std::chrono::milliseconds(20))
          .status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
  EXPECT_THAT(std::string(late.message()), testing::HasSubstr("'host/1'"));
}

TEST(AgreeOnPlaces, DoesNotTrustWhatItReads) {
  InProcessStore store;
  ASSERT_TRUE(store.Set("place/x", "1 2").ok());
  EXPECT_TRUE(absl::IsInternal(
      AgreeOnPlaces(store, 1, 3, "x", MonotonicNow()).status()));
}

}  // namespace
}  // namespace muster
