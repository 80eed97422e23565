#include "base/net/connection_crowd.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace muster {
namespace {

TEST(ConnectionCrowdTest, TheLargestShareIsThatOfTheNetworkWithTheMost) {
  ConnectionCrowd crowd;
  crowd.Add(1, "a");
  crowd.Add(2, "b");
  crowd.Add(3, "b");
  EXPECT_EQ(crowd.Oldest(), 1u);
  EXPECT_EQ(crowd.Largest().count, 2u);
  EXPECT_EQ(crowd.Largest().oldest, 2u);
}

TEST(ConnectionCrowdTest, AmongEqualSharesTheOldestConnectionDecides) {
  ConnectionCrowd crowd;
  crowd.Add(1, "z");
  crowd.Add(2, "a");
  EXPECT_EQ(crowd.Largest().oldest, 1u);
  ASSERT_TRUE(crowd.Remove(1));
  crowd.Add(3, "z");
  EXPECT_EQ(crowd.Largest().oldest, 2u);
}

TEST(ConnectionCrowdTest, ARemovedConnectionIsGone) {
  ConnectionCrowd crowd;
  crowd.Add(1, "a");
  EXPECT_TRUE(crowd.Remove(1));
  EXPECT_FALSE(crowd.Remove(1));
  EXPECT_TRUE(crowd.empty());
}

// Compares a ConnectionCrowd with a full recount of its connections after each
// of many random changes.
TEST(ConnectionCrowdTest, AgreesWithACountFromScratch) {
  std::mt19937 random(7);
  ConnectionCrowd crowd;
  std::map<ConnectionCrowd::Id, std::string> expected;
  for (ConnectionCrowd::Id id = 1; id < 3000; ++id) {
    const std::string network(1, static_cast<char>('a' + random() % 5));
    crowd.Add(id, network);
    expected.emplace(id, network);
    while (random() % 2 == 0) {
      const ConnectionCrowd::Id victim = 1 + random() % id;
      EXPECT_EQ(crowd.Remove(victim), expected.erase(victim) == 1);
    }
    ASSERT_EQ(crowd.size(), expected.size());
    if (expected.empty()) continue;
    ASSERT_EQ(crowd.Oldest(), expected.begin()->first);
    std::map<std::string, size_t> counts;
    for (const auto& [one, from] : expected) ++counts[from];
    size_t most = 0;
    for (const auto& [from, count] : counts) most = std::max(most, count);
    ASSERT_EQ(crowd.Largest().count, most);
    for (const auto& [one, from] : expected) {
      if (counts[from] != most) continue;
      ASSERT_EQ(crowd.Largest().oldest, one);
      break;
    }
  }
}

}  // namespace
}  // namespace muster
