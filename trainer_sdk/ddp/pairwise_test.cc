// Tests sums that are computed in the order of a binary tree: of the summands
// of one rank (PairwiseSum), and over several ranks (PairwiseHook).

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "trainer_sdk/ddp/pairwise_hook.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster {
namespace {

constexpr int kElements = 37;

// Returns the elements of summand number `part`. The sum of several summands
// depends on the order in which they are added.
std::vector<float> Part(int64_t part) {
  std::vector<float> values;
  values.reserve(kElements);
  for (int i = 0; i < kElements; ++i) {
    values.push_back(
        std::sin(static_cast<float>(1 + i) * static_cast<float>(1 + 3 * part)) *
        std::pow(10.0f, static_cast<float>(part % 3)));
  }
  return values;
}

// The sum of the summands [first, first + parts), by simple recursion.
std::vector<float> Tree(int64_t first, int64_t parts) {
  if (parts == 1) return Part(first);
  std::vector<float> sum = Tree(first, parts / 2);
  const std::vector<float> right = Tree(first + parts / 2, parts / 2);
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += right[i];
  return sum;
}

std::vector<float> OnOneRank(int64_t first, int64_t parts) {
  PairwiseSum sums(parts, kElements);
  std::vector<float> sum(kElements);
  for (int64_t part = 0; part < parts; ++part) {
    std::vector<float> summand = Part(first + part);
    // Add the summand in two ranges of elements, the last range first. The
    // order of the ranges must not affect the sum.
    sums.Add(part, 20, 17, summand.data() + 20, sum.data() + 20);
    sums.Add(part, 0, 20, summand.data(), sum.data());
  }
  return sum;
}

TEST(PairwiseSumTest, IsTheTreesSum) {
  for (const int64_t parts : {1, 2, 4, 8, 32}) {
    EXPECT_EQ(OnOneRank(0, parts), Tree(0, parts)) << parts;
  }
  // The sum of the same summands, added one after another. It must differ from
  // the sum by a binary tree; otherwise this test could not detect a wrong
  // order.
  std::vector<float> in_order = Part(0);
  for (int64_t part = 1; part < 8; ++part) {
    for (int i = 0; i < kElements; ++i) in_order[i] += Part(part)[i];
  }
  EXPECT_NE(in_order, Tree(0, 8));
}

TEST(PairwiseSumTest, TheLastSummandMayBeTheSum) {
  PairwiseSum sums(2, kElements);
  std::vector<float> first = Part(0);
  std::vector<float> second = Part(1);
  sums.Add(0, 0, kElements, first.data(), nullptr);
  sums.Add(1, 0, kElements, second.data(), second.data());
  EXPECT_EQ(second, Tree(0, 2));
}

TEST(PairwiseHookTest, AnyNumberOfRanksHasTheSameAverage) {
  constexpr int64_t kParts = 16;
  std::vector<float> expected = Tree(0, kParts);
  for (float& value : expected) value /= kParts;
  for (const int world : {1, 2, 4, 8}) {
    const auto statuses =
        RunWorld(world, [&](ProcessGroup& group) -> absl::Status {
          const auto hook = PairwiseHook::Create(group);
          if (!hook.ok()) return hook.status();
          const int64_t mine = kParts / world;
          std::vector<float> sum = OnOneRank(group.rank() * mine, mine);
          for (float& value : sum) value /= static_cast<float>(mine);
          GradientBucket bucket;
          bucket.count = kElements;
          bucket.data = sum.data();
          absl::Status status = (*hook)->Reduce(bucket, group);
          EXPECT_EQ(sum, expected)
              << "rank " << group.rank() << " of " << world;
          return status;
        });
    EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
  }
}

TEST(PairwiseHookTest, ThreeRanksAreNoPairs) {
  const auto statuses = RunWorld(3, [](ProcessGroup& group) {
    return PairwiseHook::Create(group).status();
  });
  EXPECT_EQ(statuses[0].code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace muster
