#include "base/rank_ranges.h"

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

}  // namespace
}  // namespace muster
