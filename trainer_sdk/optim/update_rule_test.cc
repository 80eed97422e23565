#include "trainer_sdk/optim/update_rule.h"

#include <cmath>
#include <vector>

#include "base/testing/rounding.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

TEST(AdamWTest, TheFirstStepIsTheRateInTheGradientsDirection) {
  // In the first step, bias correction makes mean / sqrt(square) equal to the
  // sign of the gradient. So each weight changes by the learning rate, 0.1.
  std::vector<float> weights = {1, 1, 1};
  const std::vector<float> gradient = {0.5f, -3, 0};
  std::vector<float> mean(3);
  std::vector<float> square(3);
  AdamWStep({.weight_decay = 0}, 0.1, 1, 3, weights.data(), gradient.data(),
            mean.data(), square.data());
  // Bound of the rounding error of a weight of magnitude 1 after one update,
  // which has ten operations.
  const double bound = RoundingBound<float>(10, 1);
  EXPECT_NEAR(weights[0], 0.9, bound);
  EXPECT_NEAR(weights[1], 1.1, bound);
  EXPECT_EQ(weights[2], 1);
  EXPECT_NEAR(mean[0], 0.05, RoundingBound<float>(3, 0.05));
  EXPECT_NEAR(square[1], 0.009, RoundingBound<float>(3, 0.009));
}

TEST(AdamWTest, DecayIsOfTheWeightAndNotOfTheGradient) {
  float weight = 2;
  const float gradient = 0;
  float mean = 0;
  float square = 0;
  AdamWStep({.weight_decay = 0.1}, 0.5, 1, 1, &weight, &gradient, &mean,
            &square);
  EXPECT_NEAR(weight, 1.9, RoundingBound<float>(2, 1.9));
  EXPECT_EQ(mean, 0);
}

TEST(AdamWTest, PartsMayBeUpdatedApart) {
  constexpr int kCount = 37;
  const auto run = [](const std::vector<int>& parts) {
    std::vector<float> weights(kCount, 1.0f);
    std::vector<float> mean(kCount);
    std::vector<float> square(kCount);
    for (int step = 1; step <= 5; ++step) {
      std::vector<float> gradient(kCount);
      for (int i = 0; i < kCount; ++i) {
        gradient[i] = std::sin(static_cast<float>(i * step));
      }
      int at = 0;
      for (const int part : parts) {
        AdamWStep({}, 0.01, step, part, weights.data() + at,
                  gradient.data() + at, mean.data() + at, square.data() + at);
        at += part;
      }
    }
    return weights;
  };
  EXPECT_EQ(run({kCount}), run({1, 11, 25}));
}

TEST(SgdTest, PlainDescentNeedsNoState) {
  float weight = 1;
  const float gradient = 2;
  SgdStep({}, 0.25, 1, 1, &weight, &gradient, nullptr);
  EXPECT_EQ(weight, 0.5f);
}

TEST(SgdTest, MomentumAddsUp) {
  float weight = 0;
  float velocity = 99;  // velocity before the first step; must be ignored
  const float gradient = 1;
  for (int step = 1; step <= 3; ++step) {
    SgdStep({.momentum = 0.5}, 1, step, 1, &weight, &gradient, &velocity);
  }
  EXPECT_EQ(velocity, 1.75f);
  EXPECT_EQ(weight, -(1 + 1.5f + 1.75f));
}

TEST(SgdTest, NesterovLooksAhead) {
  float weight = 0;
  float velocity = 0;
  const float gradient = 1;
  const SgdOptions options{.momentum = 0.5,
                           .lookahead = SgdOptions::Lookahead::kNesterov};
  SgdStep(options, 1, 1, 1, &weight, &gradient, &velocity);
  EXPECT_EQ(weight, -1.5f);
  SgdStep(options, 1, 2, 1, &weight, &gradient, &velocity);
  EXPECT_EQ(weight, -1.5f - (1 + 0.75f));
}

TEST(SgdTest, DecayPullsTowardsZero) {
  float weight = 4;
  const float gradient = 0;
  SgdStep({.weight_decay = 0.5}, 0.5, 1, 1, &weight, &gradient, nullptr);
  EXPECT_EQ(weight, 3);
}

}  // namespace
}  // namespace muster
