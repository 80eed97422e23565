#include "trainer_sdk/hierarchical/host_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using testing::ElementsAre;

TEST(HostLayout, NumbersHostsByTheirLowestRank) {
  const HostLayout layout({"z", "z", "a", "a"});
  EXPECT_EQ(layout.hosts(), 2);
  EXPECT_EQ(layout.ranks(), 4);
  EXPECT_EQ(layout.host_of(1), 0);
  EXPECT_EQ(layout.place_of(3), 1);
  EXPECT_THAT(layout.members(1), ElementsAre(2, 3));
  EXPECT_THAT(layout.Across(1), ElementsAre(1, 3));
  EXPECT_TRUE(layout.even());
  EXPECT_TRUE(layout.contiguous());
}

TEST(HostLayout, UnevenHostsAreSpokenForByTheirFirst) {
  const HostLayout layout({"a", "a", "b"});
  EXPECT_FALSE(layout.even());
  EXPECT_TRUE(layout.contiguous());
  EXPECT_THAT(layout.Across(1), ElementsAre(1, 2));
}

TEST(HostLayout, SeesRanksThatDoNotFollowOneAnother) {
  const HostLayout layout({"a", "b", "a", "b"});
  EXPECT_TRUE(layout.even());
  EXPECT_FALSE(layout.contiguous());
  EXPECT_THAT(layout.members(0), ElementsAre(0, 2));
}

TEST(HostLayout, SumsCountsByHost) {
  const HostLayout layout({"a", "a", "b"});
  EXPECT_THAT(layout.SumByHost({1, 2, 4}, 0), ElementsAre(3, 4));
  EXPECT_THAT(layout.SumByHost({}, 5), ElementsAre(10, 5));
  EXPECT_THAT(layout.CountsOf(0, {1, 2, 4}, 0), ElementsAre(1, 2));
}

}  // namespace
}  // namespace muster
