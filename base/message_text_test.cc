#include "base/message_text.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(RankRanges, NamesThemAsAPersonWould) {
  EXPECT_EQ(RankRanges({}), "no rank");
  EXPECT_EQ(RankRanges({3}), "rank 3");
  EXPECT_EQ(RankRanges({0, 1}), "ranks 0-1");
  EXPECT_EQ(RankRanges({1, 4, 5, 6, 9}), "ranks 1, 4-6, 9");
}

TEST(RankRanges, IsBounded) {
  std::vector<int> odd;
  for (int rank = 1; rank < 2000; rank += 2) odd.push_back(rank);
  EXPECT_EQ(RankRanges(odd),
            "ranks 1, 3, 5, 7, 9, 11, 13, 15 and 992 more ranks");
  odd.resize(9);
  EXPECT_EQ(RankRanges(odd), "ranks 1, 3, 5, 7, 9, 11, 13, 15 and 1 more");
}

TEST(SecondsTextTest, HasThreeDigits) {
  using std::chrono::nanoseconds;
  EXPECT_EQ(SecondsText(nanoseconds(13'468'400)), "0.0135 s");
  EXPECT_EQ(SecondsText(nanoseconds(4'987'654'321)), "4.99 s");
  EXPECT_EQ(SecondsText(std::chrono::seconds(5)), "5 s");
  EXPECT_EQ(SecondsText(Duration()), "0 s");
}

TEST(SecondsTextTest, HasWholeSecondsWhereTheyAreMany) {
  EXPECT_EQ(SecondsText(std::chrono::milliseconds(600'300)), "600 s");
  EXPECT_EQ(SecondsText(std::chrono::hours(2)), "7200 s");
}

}  // namespace
}  // namespace muster
