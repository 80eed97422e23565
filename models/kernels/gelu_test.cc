#include "models/kernels/gelu.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "gtest/gtest.h"
#include "models/kernels/finite_difference.h"

namespace muster {
namespace {

TEST(GeluTest, GradientIsThatOfDifferences) {
  std::vector<double> input = Numbers(40, 1);
  for (double& x : input) x *= 4;
  const std::vector<double> upstream = Numbers(40, 2);
  std::vector<double> slope(input.size());
  const auto loss = [&] {
    std::vector<double> output(input.size());
    GeluForward(input.data(), 40, output.data(), slope.data());
    return Dot(output, upstream);
  };
  loss();
  std::vector<double> gradient = upstream;
  GeluBackward(slope.data(), 40, gradient.data());
  ExpectGradient(input, gradient, loss);
}

TEST(GeluTest, IsItsDefinition) {
  for (double x = -12; x < 12; x += 0.131) {
    double got = 0;
    double slope = 0;
    GeluForward(&x, 1, &got, &slope);
    const double inner =
        std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
    EXPECT_NEAR(got, 0.5 * x * (1 + std::tanh(inner)), 1e-14) << x;
  }
}

TEST(GeluTest, FloatIsAsDouble) {
  for (float x = -12; x < 12; x += 0.0131f) {
    const double wide = x;
    double expected = 0;
    double expected_slope = 0;
    float got = 0;
    float slope = 0;
    GeluForward(&wide, 1, &expected, &expected_slope);
    GeluForward(&x, 1, &got, &slope);
    EXPECT_NEAR(got, expected, 3e-7 * std::max(1.0, std::abs(expected))) << x;
    EXPECT_NEAR(slope, expected_slope, 3e-6) << x;
  }
}

TEST(GeluTest, FarOutItIsTheInputOrNothing) {
  const std::vector<float> input = {-1e20f, -50, 50, 1e12f};
  std::vector<float> output(4);
  std::vector<float> slope(4);
  GeluForward(input.data(), 4, output.data(), slope.data());
  EXPECT_NEAR(output[1], 0, 1e-30);
  EXPECT_EQ(output[2], 50);
  EXPECT_EQ(output[3], 1e12f);
  EXPECT_NEAR(slope[1], 0, 1e-30);
  EXPECT_EQ(slope[2], 1);
}

}  // namespace
}  // namespace muster
