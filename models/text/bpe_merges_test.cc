#include "models/text/bpe_merges.h"

#include <cstddef>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::models {
namespace {

using ::testing::ElementsAre;
using Merges = std::vector<BpeMerge>;

std::vector<int32_t> Merged(const Merges& merges, std::vector<int32_t> tokens) {
  const BpeMergeTable table(merges);
  BpeMerger(table).Merge(&tokens);
  return tokens;
}

// The literal definition.
std::vector<int32_t> MergedPlainly(const Merges& merges,
                                   std::vector<int32_t> tokens) {
  for (;;) {
    size_t best = merges.size();
    size_t where = 0;
    for (size_t i = 0; i + 1 < tokens.size(); ++i) {
      for (size_t m = 0; m < best; ++m) {
        if (merges[m].left == tokens[i] && merges[m].right == tokens[i + 1]) {
          best = m;
          where = i;
        }
      }
    }
    if (best == merges.size()) return tokens;
    tokens[where] = merges[best].merged;
    tokens.erase(tokens.begin() + static_cast<ptrdiff_t>(where) + 1);
  }
}

TEST(BpeMergeTableTest, FindsWhatIsThere) {
  const BpeMergeTable table(Merges{{1, 2, 3}, {2, 1, 4}, {3, 3, 5}});
  EXPECT_EQ(table.Find(1, 2), 0u);
  EXPECT_EQ(table.Find(2, 1), 1u);
  EXPECT_EQ(table.Find(3, 3), 2u);
  EXPECT_EQ(table.Find(1, 1), BpeMergeTable::kNone);
  EXPECT_EQ(table.Find(0, 0), BpeMergeTable::kNone);
  EXPECT_EQ(BpeMergeTable(Merges{}).Find(1, 2), BpeMergeTable::kNone);
}

TEST(BpeMergerTest, TheEarlierMergeGoesFirst) {
  EXPECT_THAT(Merged({{2, 3, 9}, {1, 2, 8}}, {1, 2, 3}), ElementsAre(1, 9));
  EXPECT_THAT(Merged({{1, 2, 8}, {2, 3, 9}}, {1, 2, 3}), ElementsAre(8, 3));
}

TEST(BpeMergerTest, OfEqualsTheLeftmost) {
  EXPECT_THAT(Merged({{1, 1, 2}}, {1, 1, 1}), ElementsAre(2, 1));
}

TEST(BpeMergerTest, WhatWasMergedIsMergedOn) {
  EXPECT_THAT(Merged({{1, 1, 2}, {2, 2, 3}}, {1, 1, 1, 1}), ElementsAre(3));
  EXPECT_THAT(Merged({{1, 1, 2}}, {}), ElementsAre());
  EXPECT_THAT(Merged({{1, 1, 2}}, {1}), ElementsAre(1));
}

// All lengths around the limit between the two methods.
TEST(BpeMergerTest, IsTheDefinitionAtEveryLength) {
  std::mt19937 draw(7);
  for (int round = 0; round < 60; ++round) {
    Merges merges;
    int32_t next = 4;
    for (int i = 0; i < 30; ++i) {
      const BpeMerge merge{static_cast<int32_t>(draw() % next),
                           static_cast<int32_t>(draw() % next), next};
      if (BpeMergeTable(merges).Find(merge.left, merge.right) ==
          BpeMergeTable::kNone) {
        merges.push_back(merge);
        ++next;
      }
    }
    const BpeMergeTable table(merges);
    BpeMerger merger(table);
    for (size_t length = 0; length < 60; ++length) {
      std::vector<int32_t> tokens(length);
      for (int32_t& token : tokens) token = static_cast<int32_t>(draw() % 4);
      const std::vector<int32_t> expected = MergedPlainly(merges, tokens);
      merger.Merge(&tokens);
      ASSERT_EQ(tokens, expected) << length;
    }
  }
}

// Would take hours with a quadratic method.
TEST(BpeMergerTest, ALongPieceIsNoTrap) {
  const size_t length = 1 << 19;
  const std::vector<int32_t> tokens = Merged({{1, 1, 2}, {2, 2, 3}, {3, 3, 4}},
                                             std::vector<int32_t>(length, 1));
  EXPECT_EQ(tokens, std::vector<int32_t>(length / 8, 4));
}

}  // namespace
}  // namespace muster::models
