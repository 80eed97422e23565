#include "models/gpt/layer_split.h"

#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::models {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::vector<std::pair<int64_t, int64_t>> Split(int64_t layers, int stages) {
  const auto split = SplitLayers({.layers = layers}, stages);
  EXPECT_TRUE(split.ok()) << split.status();
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (const GptLayers& part : *split)
    pairs.emplace_back(part.first, part.last);
  return pairs;
}

TEST(LayerSplitTest, IsEven) {
  EXPECT_THAT(Split(4, 1), ElementsAre(Pair(0, 4)));
  EXPECT_THAT(Split(6, 3), ElementsAre(Pair(0, 2), Pair(2, 4), Pair(4, 6)));
}

TEST(LayerSplitTest, TheFirstHaveMore) {
  EXPECT_THAT(Split(8, 3), ElementsAre(Pair(0, 3), Pair(3, 6), Pair(6, 8)));
  EXPECT_THAT(Split(4, 3), ElementsAre(Pair(0, 2), Pair(2, 3), Pair(3, 4)));
}

TEST(LayerSplitTest, EachStageNeedsALayer) {
  EXPECT_EQ(SplitLayers({.layers = 4}, 5).status().message(),
            "4 layers cannot be split over 5 stages: each needs one");
  EXPECT_FALSE(SplitLayers({.layers = 4}, 0).ok());
}

}  // namespace
}  // namespace muster::models
