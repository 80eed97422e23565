#include "trainer_sdk/network/primitives.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(RankParts, FollowTheirCounts) {
  const RankParts parts({3, 0, 4}, 99, 3);
  EXPECT_EQ(parts.begin(0), 0);
  EXPECT_EQ(parts.begin(1), 3);
  EXPECT_EQ(parts.begin(2), 3);
  EXPECT_EQ(parts.count(1), 0);
  EXPECT_EQ(parts.count(2), 4);
  EXPECT_EQ(parts.total(), 7);
}

TEST(RankParts, AreEqualWithoutCounts) {
  const RankParts parts({}, 5, 3);
  EXPECT_EQ(parts.begin(2), 10);
  EXPECT_EQ(parts.count(2), 5);
  EXPECT_EQ(parts.total(), 15);
}

TEST(RankParts, EvenOnesDifferByOneAtMostAndAreAll) {
  for (int size = 1; size < 9; ++size) {
    for (int64_t total = 0; total < 30; ++total) {
      const RankParts parts = RankParts::Even(total, size);
      EXPECT_EQ(parts.total(), total);
      for (int part = 0; part < size; ++part) {
        EXPECT_GE(parts.count(part), total / size);
        EXPECT_LE(parts.count(part), total / size + 1);
      }
    }
  }
}

TEST(RankParts, EvenOnesOfVeryManyElementsDoNotOverflow) {
  const int64_t many = int64_t{1} << 62;
  EXPECT_EQ(RankParts::Even(many, 3).total(), many);
  EXPECT_EQ(RankParts::Even(many, 3).begin(2), many / 3 * 2 + 1);
}

}  // namespace
}  // namespace muster
