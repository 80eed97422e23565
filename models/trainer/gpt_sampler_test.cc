#include "models/trainer/gpt_sampler.h"

#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace muster::models {
namespace {

GptWeights& Weights() {
  static GptWeights& weights = *[] {
    auto* made = new GptWeights({.vocabulary = 9,
                                 .context = 4,
                                 .layers = 1,
                                 .heads = 2,
                                 .width = 8,
                                 .biases = GptConfig::Biases::kNone},
                                {0, 1});
    made->Initialize(3);
    return made;
  }();
  return weights;
}

TEST(GptSamplerTest, WritesBehindWhatItWasGiven) {
  const std::vector<int32_t> text = Sample(Weights(), {.count = 20}, {5, 6});
  ASSERT_EQ(text.size(), 22u);
  EXPECT_EQ(text[0], 5);
  EXPECT_EQ(text[1], 6);
  for (const int32_t token : text) {
    EXPECT_GE(token, 0);
    EXPECT_LT(token, 9);
  }
}

TEST(GptSamplerTest, TheSeedDecides) {
  EXPECT_EQ(Sample(Weights(), {.count = 30, .seed = 1}, {0}),
            Sample(Weights(), {.count = 30, .seed = 1}, {0}));
  EXPECT_NE(Sample(Weights(), {.count = 30, .seed = 1}, {0}),
            Sample(Weights(), {.count = 30, .seed = 2}, {0}));
}

TEST(GptSamplerTest, TheLikeliestAloneIsNoMatterOfChance) {
  const std::vector<int32_t> text =
      Sample(Weights(), {.count = 12, .most_likely = 1, .seed = 1}, {2});
  EXPECT_EQ(text,
            Sample(Weights(), {.count = 12, .most_likely = 1, .seed = 2}, {2}));
  EXPECT_EQ(text, Sample(Weights(), {.count = 12, .temperature = 1e-6}, {2}));
}

TEST(GptSamplerTest, AnUntrainedModelUsesEveryToken) {
  const std::vector<int32_t> text = Sample(Weights(), {.count = 300}, {0});
  EXPECT_EQ(std::set<int32_t>(text.begin(), text.end()).size(), 9u);
}

}  // namespace
}  // namespace muster::models
