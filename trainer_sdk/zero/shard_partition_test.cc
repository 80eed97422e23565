#include "trainer_sdk/zero/shard_partition.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

using ::testing::ElementsAre;

TEST(ShardPartitionTest, PartsDifferByOneElementAtMost) {
  EXPECT_THAT(ShardCounts(10, 4), ElementsAre(3, 3, 2, 2));
  EXPECT_THAT(ShardCounts(2, 4), ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(ShardCounts(0, 2), ElementsAre(0, 0));
  for (int64_t count = 0; count < 40; ++count) {
    for (int ranks = 1; ranks < 9; ++ranks) {
      const std::vector<int64_t> counts = ShardCounts(count, ranks);
      EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), int64_t{0}),
                count);
      const auto [least, most] =
          std::minmax_element(counts.begin(), counts.end());
      EXPECT_LE(*most - *least, 1);
      EXPECT_EQ(ShardBegin(count, ranks, ranks), count);
    }
  }
  // The intermediate results of ShardBegin must not overflow.
  EXPECT_EQ(ShardBegin(int64_t{1} << 62, 3, 4), int64_t{3} << 60);
}

TEST(ShardPartitionTest, AlignedPartsAreEqualAndTheLastRankHasTheRest) {
  EXPECT_THAT(ShardCounts(1000, 3, ShardForm::kAligned),
              ElementsAre(320, 320, 360));
  EXPECT_THAT(ShardCounts(128, 2, ShardForm::kAligned), ElementsAre(64, 64));
  EXPECT_THAT(ShardCounts(127, 2, ShardForm::kAligned), ElementsAre(0, 127));
  EXPECT_THAT(ShardCounts(70, 1, ShardForm::kAligned), ElementsAre(70));
  EXPECT_EQ(ShardBegin(1000, 2, 3, ShardForm::kAligned), 640);
}

GradientBucket Bucket(int index,
                      const std::vector<std::pair<int, int>>& parts) {
  GradientBucket bucket;
  bucket.index = index;
  for (const auto& [parameter, count] : parts) {
    bucket.parts.push_back({parameter, bucket.count, count, 1});
    bucket.count += count;
  }
  return bucket;
}

TEST(ShardPartitionTest, PiecesAreEachElementOnce) {
  std::vector<GradientBucket> buckets;
  buckets.push_back(Bucket(0, {{3, 5}, {2, 0}, {1, 6}}));
  buckets.push_back(Bucket(1, {{0, 1}}));
  for (int ranks = 1; ranks < 15; ++ranks) {
    std::vector<std::vector<int>> seen = {
        std::vector<int>(1), std::vector<int>(6), {}, std::vector<int>(5)};
    for (int rank = 0; rank < ranks; ++rank) {
      for (const ShardPiece& piece : PiecesOf(buckets, rank, ranks)) {
        const ParameterRange& range = piece.range;
        EXPECT_GT(range.count(), 0);
        const GradientBucket& bucket = buckets[piece.bucket];
        const int64_t begin = ShardBegin(bucket.count, rank, ranks);
        EXPECT_GE(piece.offset, begin);
        EXPECT_LE(piece.offset + range.count(),
                  ShardBegin(bucket.count, rank + 1, ranks));
        const auto part = std::find_if(
            bucket.parts.begin(), bucket.parts.end(),
            [&](const auto& p) { return p.parameter == range.parameter; });
        ASSERT_TRUE(part != bucket.parts.end());
        EXPECT_EQ(piece.offset - part->offset, range.begin);
        for (int64_t k = range.begin; k < range.end; ++k) {
          ++seen[range.parameter][k];
        }
      }
    }
    for (const std::vector<int>& parameter : seen) {
      EXPECT_THAT(parameter, testing::Each(1));
    }
  }
}

}  // namespace
}  // namespace muster
