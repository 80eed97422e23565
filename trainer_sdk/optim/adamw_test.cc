#include "trainer_sdk/optim/adamw.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace muster {
namespace {

TEST(AdamWTest, TheFirstStepIsTheRateInTheGradientsDirection) {
  // Bias correction makes mean / root(square) the gradient's sign.
  std::vector<float> weights = {1, 1, 1};
  const std::vector<float> gradient = {0.5f, -3, 0};
  std::vector<float> mean(3);
  std::vector<float> square(3);
  AdamWStep({.weight_decay = 0}, 0.1, 1, 3, weights.data(), gradient.data(),
            mean.data(), square.data());
  EXPECT_FLOAT_EQ(weights[0], 0.9f);
  EXPECT_FLOAT_EQ(weights[1], 1.1f);
  EXPECT_FLOAT_EQ(weights[2], 1.0f);
  EXPECT_FLOAT_EQ(mean[0], 0.05f);
  EXPECT_FLOAT_EQ(square[1], 0.009f);
}

TEST(AdamWTest, DecayIsOfTheWeightAndNotOfTheGradient) {
  float weight = 2;
  const float gradient = 0;
  float mean = 0;
  float square = 0;
  AdamWStep({.weight_decay = 0.1}, 0.5, 1, 1, &weight, &gradient, &mean,
            &square);
  EXPECT_FLOAT_EQ(weight, 2 * (1 - 0.05f));
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
