#include "trainer_sdk/checkpoint/share_plan.h"

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const CheckpointTensor kA = {"a", DType::kFloat32, {10}};
const CheckpointTensor kB = {"b", DType::kInt8, {2, 4}};

int64_t BytesOf(const std::vector<SliceRange>& share) {
  int64_t bytes = 0;
  for (const SliceRange& range : share) {
    bytes += (range.end - range.begin) * SizeOf(range.tensor.dtype);
  }
  return bytes;
}

TEST(PlanSharesTest, OnlyOwnerWritesItsTensor) {
  const auto plan = PlanShares({{{kA, 0, 10}}, {{kB, 0, 8}}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->tensors, ElementsAre(kA, kB));
  EXPECT_THAT(plan->shares, ElementsAre(ElementsAre(SliceRange{kA, 0, 10}),
                                        ElementsAre(SliceRange{kB, 0, 8})));
}

TEST(PlanSharesTest, ReplicatedTensorsAreDividedByBytes) {
  const std::vector<SliceRange> all = {{kB, 0, 8}, {kA, 0, 10}};
  const auto plan = PlanShares({all, all, all});
  ASSERT_TRUE(plan.ok()) << plan.status();
  // The tensors have 48 bytes in total, so each of the three ranks writes 16
  // bytes.
  EXPECT_THAT(plan->shares, ElementsAre(ElementsAre(SliceRange{kA, 0, 4}),
                                        ElementsAre(SliceRange{kA, 4, 8}),
                                        ElementsAre(SliceRange{kA, 8, 10},
                                                    SliceRange{kB, 0, 8})));
}

TEST(PlanSharesTest, PiecesOfOneRankAreJoined) {
  // Only rank 0 holds the middle of tensor A. Both ranks hold its two ends.
  const auto plan =
      PlanShares({{{kA, 0, 10}}, {{kA, 0, 2}, {kA, 8, 10}, {kB, 0, 8}}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->shares, ElementsAre(ElementsAre(SliceRange{kA, 0, 8}),
                                        ElementsAre(SliceRange{kA, 8, 10},
                                                    SliceRange{kB, 0, 8})));
}

TEST(PlanSharesTest, EmptyTensorsAreKnownAndNobodyWritesThem) {
  const CheckpointTensor none = {"none", DType::kFloat64, {3, 0}};
  const auto plan = PlanShares({{}, {{none, 0, 0}}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->tensors, ElementsAre(none));
  EXPECT_THAT(plan->shares, ElementsAre(IsEmpty(), IsEmpty()));
}

TEST(PlanSharesTest, GapsAndDisagreementsAreNamed) {
  const auto reason = [](const std::vector<std::vector<SliceRange>>& ranks) {
    const auto plan = PlanShares(ranks);
    EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(plan.status().message());
  };
  EXPECT_THAT(reason({{{kA, 1, 10}}}), HasSubstr("elements 0 to 1 of"));
  EXPECT_THAT(reason({{{kA, 0, 9}}, {}}), HasSubstr("elements 9 to 10 of"));
  EXPECT_THAT(reason({{{kA, 0, 4}}, {{kA, 5, 10}}}),
              HasSubstr("no rank has the elements 4 to 5 of tensor 'a' "
                        "(float32 [10])"));
  EXPECT_THAT(reason({{{kA, 3, 3}}}), HasSubstr("elements 0 to 10 of"));
  const CheckpointTensor other = {"a", DType::kFloat32, {5, 2}};
  EXPECT_THAT(reason({{}, {{kA, 0, 10}}, {{other, 0, 10}}}),
              HasSubstr("rank 1 has tensor 'a' (float32 [10]), and rank 2 has "
                        "tensor 'a' (float32 [5,2])"));
}

// Tests random ranges. Each element is in the share of exactly one rank, which
// holds the element. If all ranks hold all elements, the ranks' shares differ
// by at most one element.
TEST(PlanSharesTest, EveryElementIsInOneShareOfItsOwners) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    const size_t count = 1 + random() % 5;
    std::vector<std::vector<SliceRange>> ranks(count);
    std::vector<CheckpointTensor> tensors;
    for (int i = 0; i < 4; ++i) {
      tensors.push_back({absl::StrCat("t", i),
                         static_cast<DType>(random() % kDTypes),
                         {static_cast<int64_t>(random() % 30)}});
    }
    const bool replicated = seed % 3 == 0;
    for (const CheckpointTensor& tensor : tensors) {
      const int64_t size = tensor.count();
      for (auto& rank : ranks) {
        if (replicated) rank.push_back({tensor, 0, size});
        for (uint64_t n = random() % 3; n > 0; --n) {
          const auto begin =
              static_cast<int64_t>(random() % static_cast<uint64_t>(size + 1));
          const auto length = static_cast<int64_t>(
              random() % static_cast<uint64_t>(size - begin + 1));
          rank.push_back({tensor, begin, begin + length});
        }
      }
      ranks[random() % count].push_back({tensor, 0, size});
    }
    const auto plan = PlanShares(ranks);
    ASSERT_TRUE(plan.ok()) << seed << plan.status();
    std::map<std::pair<std::string, int64_t>, int> times;
    int64_t least = INT64_MAX;
    int64_t most = 0;
    for (size_t rank = 0; rank < count; ++rank) {
      least = std::min(least, BytesOf(plan->shares[rank]));
      most = std::max(most, BytesOf(plan->shares[rank]));
      for (const SliceRange& range : plan->shares[rank]) {
        for (int64_t k = range.begin; k < range.end; ++k) {
          ++times[{range.tensor.name, k}];
          bool has = false;
          for (const SliceRange& own : ranks[rank]) {
            has |= own.tensor == range.tensor && own.begin <= k && k < own.end;
          }
          ASSERT_TRUE(has) << seed;
        }
      }
    }
    size_t elements = 0;
    for (const CheckpointTensor& tensor : tensors) {
      elements += static_cast<size_t>(tensor.count());
    }
    ASSERT_EQ(times.size(), elements) << seed;
    for (const auto& [element, n] : times) ASSERT_EQ(n, 1) << seed;
    if (replicated) {
      EXPECT_LE(most - least, 16) << seed;
    }
  }
}

const CheckpointTensor kBytes = {"a", DType::kInt8, {4, 2}};
const CheckpointTensor kDoubles = {"b", DType::kFloat64, {3}};

TEST(ShardEntryNameTest, NoTwoRangesHaveOneName) {
  EXPECT_EQ(ShardEntryName({kBytes, 0, 8}), "a");
  EXPECT_EQ(ShardEntryName({kBytes, 0, 3}), "a[0:3]");
  EXPECT_EQ(ShardEntryName({kBytes, 3, 8}), "a[3:8]");
  const CheckpointTensor odd = {"a[0:3]", DType::kInt8, {3}};
  EXPECT_EQ(ShardEntryName({odd, 0, 3}), "a[0:3][0:3]");
  EXPECT_EQ(ShardEntryName({odd, 0, 2}), "a[0:3][0:2]");
}

TEST(ShardFileNameTest, IsSortedByRank) {
  EXPECT_EQ(ShardFileName(7), "rank-00007.safetensors");
  EXPECT_EQ(ShardFileName(123456), "rank-123456.safetensors");
}

TEST(LayOutShardTest, WholeTensorsKeepTheirShapeAndPartsAreFlat) {
  const std::vector<SliceRange> own = {{kBytes, 0, 8}, {kDoubles, 1, 3}};
  const auto layout = LayOutShard(own, {{kBytes, 0, 8}, {kDoubles, 2, 3}});
  ASSERT_TRUE(layout.ok()) << layout.status();
  // The tensors with the largest element size come first in a shard. So every
  // tensor is aligned to its element size.
  EXPECT_THAT(
      layout->header.tensors,
      ElementsAre(SafetensorsTensor{"b[2:3]", SafetensorsType::kF64, {1}, 0, 8},
                  SafetensorsTensor{"a", SafetensorsType::kI8, {4, 2}, 8, 16}));
  ASSERT_EQ(layout->copies.size(), 2u);
  EXPECT_EQ(layout->copies[0].slice, 1u);
  EXPECT_EQ(layout->copies[0].from, 8);
  EXPECT_EQ(layout->copies[0].to, 0);
  EXPECT_EQ(layout->copies[0].bytes, 8);
  EXPECT_EQ(layout->copies[1].slice, 0u);
  EXPECT_EQ(layout->copies[1].to, 8);
}

TEST(LayOutShardTest, ARangeMayComeFromSeveralSlices) {
  const std::vector<SliceRange> own = {
      {kBytes, 5, 8}, {kBytes, 0, 4}, {kBytes, 2, 6}};
  const auto layout = LayOutShard(own, {{kBytes, 1, 8}});
  ASSERT_TRUE(layout.ok()) << layout.status();
  std::string target(7, '.');
  const std::string source = "01234567";
  for (const ShardCopy& copy : layout->copies) {
    const int64_t begin = own[copy.slice].begin + copy.from;
    target.replace(static_cast<size_t>(copy.to),
                   static_cast<size_t>(copy.bytes),
                   source.substr(static_cast<size_t>(begin),
                                 static_cast<size_t>(copy.bytes)));
  }
  EXPECT_EQ(target, "1234567");
}

}  // namespace
}  // namespace muster
