#include "trainer_sdk/data/distributed_sampler.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Order = DistributedSamplerOptions::Order;
using Tail = DistributedSamplerOptions::Tail;

std::vector<int64_t> Indices(const DistributedSamplerOptions& options,
                             int64_t epoch = 0) {
  const auto sampler = DistributedSampler::Create(options);
  EXPECT_TRUE(sampler.ok()) << sampler.status();
  std::vector<int64_t> indices = sampler->Indices(epoch);
  EXPECT_EQ(static_cast<int64_t>(indices.size()), sampler->size());
  return indices;
}

TEST(DistributedSamplerTest, EveryRankTakesEachNth) {
  EXPECT_THAT(Indices({.length = 6,
                       .rank = 1,
                       .world_size = 2,
                       .order = Order::kSequential}),
              ElementsAre(1, 3, 5));
}

TEST(DistributedSamplerTest, TheFirstOnesPadTheEnd) {
  EXPECT_THAT(Indices({.length = 5,
                       .rank = 2,
                       .world_size = 3,
                       .order = Order::kSequential}),
              ElementsAre(2, 0));
}

TEST(DistributedSamplerTest, PaddingGoesRoundMoreThanOnce) {
  for (int rank = 0; rank < 7; ++rank) {
    EXPECT_THAT(Indices({.length = 2,
                         .rank = rank,
                         .world_size = 7,
                         .order = Order::kSequential}),
                ElementsAre(rank % 2));
  }
}

TEST(DistributedSamplerTest, OrTheEndIsDropped) {
  EXPECT_THAT(Indices({.length = 8,
                       .rank = 2,
                       .world_size = 3,
                       .order = Order::kSequential,
                       .tail = Tail::kDropped}),
              ElementsAre(2, 5));
  EXPECT_THAT(Indices({.length = 2, .world_size = 3, .tail = Tail::kDropped}),
              IsEmpty());
}

TEST(DistributedSamplerTest, NothingCanBeDealtOutOfNothing) {
  EXPECT_THAT(Indices({.length = 0, .world_size = 3}), IsEmpty());
}

TEST(DistributedSamplerTest, TogetherTheRanksSeeEveryExampleOnce) {
  std::map<int64_t, int> seen;
  for (int rank = 0; rank < 4; ++rank) {
    for (const int64_t index : Indices(
             {.length = 100, .rank = rank, .world_size = 4, .seed = 7}, 3)) {
      ++seen[index];
    }
  }
  EXPECT_EQ(seen.size(), 100u);
  for (const auto& [index, times] : seen) EXPECT_EQ(times, 1) << index;
}

TEST(DistributedSamplerTest, AnEpochShufflesAnew) {
  const DistributedSamplerOptions options{.length = 50, .seed = 1};
  EXPECT_NE(Indices(options, 0), Indices(options, 1));
  EXPECT_EQ(Indices(options, 1), Indices(options, 1));
  EXPECT_EQ(Indices(options, 1), Indices({.length = 50, .seed = 2}, 0));
}

TEST(DistributedSamplerTest, RefusesWhatIsNoWorld) {
  const auto refusal = [](const DistributedSamplerOptions& options) {
    return std::string(DistributedSampler::Create(options).status().message());
  };
  EXPECT_THAT(refusal({.length = -1}), HasSubstr("-1 examples"));
  EXPECT_THAT(refusal({.length = 1, .rank = 2, .world_size = 2}),
              HasSubstr("rank 2 in a world of 2"));
  EXPECT_THAT(refusal({.length = 1, .rank = -1}), HasSubstr("rank -1"));
  EXPECT_THAT(refusal({.length = 1, .world_size = 0}),
              HasSubstr("a world of 0"));
}

// The expected values are the output of PyTorch 1.13 and 2.15:
// torch.randperm(8, generator=Generator().manual_seed(0)).
TEST(RandomPermutationTest, IsPyTorchs) {
  EXPECT_THAT(RandomPermutation(8, 0), ElementsAre(4, 0, 7, 3, 2, 5, 1, 6));
}

TEST(RandomPermutationTest, OnlyTheLow32BitsOfTheSeedCount) {
  EXPECT_EQ(RandomPermutation(100, 5),
            RandomPermutation(100, (1ull << 32) + 5));
  EXPECT_NE(RandomPermutation(100, 5), RandomPermutation(100, 6));
}

TEST(RandomPermutationTest, OfOneAndNone) {
  EXPECT_THAT(RandomPermutation(0, 3), IsEmpty());
  EXPECT_THAT(RandomPermutation(1, 3), ElementsAre(0));
}

}  // namespace
}  // namespace muster
