#include "models/gpt_cuda/weight_shares.h"

#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::cuda {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(WeightSharesTest, PartsAreEqualAndTheRestIsTheLasts) {
  const ContiguousBucket bucket = {.begin = 128, .end = 128 + 3 * 64 + 70};
  const BucketShares shares = SharesOf(bucket, 3);
  EXPECT_EQ(shares.part, 64);
  EXPECT_EQ(shares.rest, (ElementRange{320, 390}));
  EXPECT_EQ(ShareOf(bucket, 0, 3), (ElementRange{128, 192}));
  EXPECT_EQ(ShareOf(bucket, 1, 3), (ElementRange{192, 256}));
  EXPECT_EQ(ShareOf(bucket, 2, 3), (ElementRange{256, 390}));
}

TEST(WeightSharesTest, EachElementIsOnesAndInOrder) {
  for (const int64_t count : {0, 1, 63, 64, 65, 1000, 4096}) {
    for (int ranks = 1; ranks <= 8; ++ranks) {
      const ContiguousBucket bucket = {.begin = 64, .end = 64 + count};
      int64_t at = bucket.begin;
      for (int rank = 0; rank < ranks; ++rank) {
        const ElementRange own = ShareOf(bucket, rank, ranks);
        EXPECT_EQ(own.begin, at);
        EXPECT_GE(own.count(), 0);
        EXPECT_EQ(own.begin % 64, 0);
        at = own.end;
      }
      EXPECT_EQ(at, bucket.end) << count << " for " << ranks;
      const BucketShares shares = SharesOf(bucket, ranks);
      EXPECT_LT(shares.rest.count(), 64 * ranks);
      EXPECT_EQ(shares.rest.begin + shares.rest.count(), bucket.end);
    }
  }
}

TEST(WeightSharesTest, AFewElementsAreTheLastRanks) {
  const ContiguousBucket bucket = {.begin = 0, .end = 100};
  EXPECT_EQ(ShareOf(bucket, 0, 2).count(), 0);
  EXPECT_EQ(ShareOf(bucket, 1, 2), (ElementRange{0, 100}));
}

using Pieces = std::vector<std::tuple<int, int64_t, int64_t>>;

Pieces In(const std::vector<ElementRange>& ranges) {
  // The gaps are [10, 64) and [70, 128).
  Pieces all;
  for (const TensorPiece& piece :
       PiecesIn(ranges, {0, 64, 128}, {10, 6, 100})) {
    all.emplace_back(piece.tensor, piece.range.begin, piece.range.end);
  }
  return all;
}

TEST(WeightSharesTest, PiecesAreWhatOfTheTensorsIsThere) {
  EXPECT_EQ(In({{0, 228}}), (Pieces{{0, 0, 10}, {1, 0, 6}, {2, 0, 100}}));
  EXPECT_EQ(In({{3, 66}}), (Pieces{{0, 3, 10}, {1, 0, 2}}));
  EXPECT_EQ(In({{130, 140}, {5, 6}}), (Pieces{{2, 2, 12}, {0, 5, 6}}));
}

TEST(WeightSharesTest, GapsAreNobodys) {
  EXPECT_THAT(In({{10, 64}}), IsEmpty());
  EXPECT_THAT(In({{70, 128}, {228, 300}, {5, 5}}), IsEmpty());
  EXPECT_THAT(In({{69, 129}}),
              ElementsAre(std::tuple(1, 5, 6), std::tuple(2, 0, 1)));
  EXPECT_THAT(PiecesIn({{0, 10}}, {}, {}), IsEmpty());
}

}  // namespace
}  // namespace muster::cuda
