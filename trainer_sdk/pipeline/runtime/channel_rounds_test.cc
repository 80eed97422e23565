#include "trainer_sdk/pipeline/runtime/channel_rounds.h"

#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ChannelRoundsTest, OneRankTalksToNobody) {
  EXPECT_THAT(ChannelRounds({1, 1, 4}), IsEmpty());
  EXPECT_THAT(ChannelRounds({1, 3, 4}), IsEmpty());
}

TEST(ChannelRoundsTest, TheEndsAreNeighboursOnlyWithSeveralStages) {
  EXPECT_THAT(ChannelRounds({2, 1, 4}),
              ElementsAre(ElementsAre(Neighbours{0, 1})));
  // Two channels between the same two ranks.
  EXPECT_THAT(ChannelRounds({2, 2, 4}),
              ElementsAre(ElementsAre(Neighbours{0, 1}),
                          ElementsAre(Neighbours{1, 0})));
  EXPECT_THAT(
      ChannelRounds({3, 2, 4}),
      ElementsAre(ElementsAre(Neighbours{0, 1}), ElementsAre(Neighbours{1, 2}),
                  ElementsAre(Neighbours{2, 0})));
}

TEST(ChannelRoundsTest, NobodyIsTwiceInARoundAndAllNeighboursAreInOne) {
  for (int ranks = 2; ranks < 12; ++ranks) {
    for (int chunks = 1; chunks < 3; ++chunks) {
      const auto rounds = ChannelRounds({ranks, chunks, 1});
      EXPECT_LE(rounds.size(), chunks == 1 || ranks % 2 == 0 ? 2u : 3u);
      std::set<int> first;
      for (const auto& round : rounds) {
        std::set<int> busy;
        for (const Neighbours& both : round) {
          EXPECT_EQ(both.next, (both.rank + 1) % ranks);
          EXPECT_TRUE(busy.insert(both.rank).second);
          EXPECT_TRUE(busy.insert(both.next).second);
          EXPECT_TRUE(first.insert(both.rank).second);
        }
      }
      EXPECT_EQ(first.size(),
                static_cast<size_t>(chunks == 1 ? ranks - 1 : ranks));
    }
  }
}

}  // namespace
}  // namespace muster
