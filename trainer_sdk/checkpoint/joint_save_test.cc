#include "trainer_sdk/checkpoint/joint_save.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster {
namespace {

using testing::HasSubstr;

const CheckpointTensor kA = {"a", DType::kFloat32, {10}};
const CheckpointTensor kB = {"b", DType::kInt8, {2, 4}};

// The data and slices of a rank that has tensor `a` in two overlapping slices
// and, optionally, tensor `b`.
struct Rank {
  std::vector<float> a = std::vector<float>(10, 1);
  std::vector<char> b = std::vector<char>(8, 2);
  bool has_b = true;

  std::vector<CheckpointSlice> slices() {
    std::vector<CheckpointSlice> slices = {{kA, 4, 10, a.data() + 4},
                                           {kA, 0, 6, a.data()}};
    if (has_b) slices.push_back({kB, 0, 8, b.data()});
    return slices;
  }
};

absl::Status Check(std::vector<Rank> ranks) {
  std::vector<std::vector<SliceRange>> ranges;
  for (Rank& rank : ranks) ranges.push_back(RangesOf(rank.slices()));
  const auto plan = PlanShares(ranges);
  if (!plan.ok()) return plan.status();
  std::vector<std::string> digests;
  for (size_t i = 0; i < ranks.size(); ++i) {
    digests.push_back(ReplicaCheck(*plan, ranges[i], static_cast<int>(i))
                          .Digests(ranks[i].slices()));
  }
  return CompareReplicas(*plan, {digests.begin(), digests.end()});
}

TEST(ReplicaCheckTest, EqualReplicasPass) {
  EXPECT_TRUE(Check({Rank(), Rank(), Rank()}).ok());
  EXPECT_TRUE(Check({Rank()}).ok());
}

TEST(ReplicaCheckTest, SingleDifferentElementIsFound) {
  for (size_t element = 0; element < 10; ++element) {
    std::vector<Rank> ranks(3);
    ranks[2].a[element] = 7;
    const absl::Status status = Check(ranks);
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(
        std::string(status.message()),
        HasSubstr("tensor 'a' (float32 [10]) is not the same on ranks 0 "
                  "and 2"));
  }
}

TEST(ReplicaCheckTest, OnlyRanksThatHaveATensorAreCompared) {
  std::vector<Rank> ranks(3);
  ranks[0].has_b = false;
  ranks[0].b.assign(8, 9);
  EXPECT_TRUE(Check(ranks).ok());
  ranks[1].b[7] = 3;
  EXPECT_THAT(std::string(Check(ranks).message()),
              HasSubstr("tensor 'b' (int8 [2,4]) is not the same on ranks 1 "
                        "and 2"));
}

TEST(ReplicaCheckTest, TooFewDigestsAreNoAgreement) {
  const std::vector<SliceRange> all = {{kA, 0, 10}};
  const auto plan = PlanShares({all, all});
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(absl::IsDataLoss(
      CompareReplicas(*plan, {std::string_view("\0\0\0\0\0\0\0\0", 8), ""})));
}

}  // namespace
}  // namespace muster
