#include "trainer_sdk/optim/adamw.h"

#include <cmath>
#include <vector>

#include "base/testing/rounding.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

TEST(AdamWTest, TheFirstStepIsTheRateInTheGradientsDirection) {
  // Bias correction makes mean / sqrt(square) the sign of the gradient.
  std::vector<float> weights = {1, 1, 1};
  const std::vector<float> gradient = {0.5f, -3, 0};
  std::vector<float> mean(3);
  std::vector<float> square(3);
  AdamWStep({.weight_decay = 0}, 0.1, 1, 3, weights.data(), gradient.data(),
            mean.data(), square.data());
  // A weight is about 1, and its update has ten operations.
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

}  // namespace
}  // namespace muster
