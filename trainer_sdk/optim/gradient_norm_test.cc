#include "trainer_sdk/optim/gradient_norm.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace muster {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(GradientNormTest, SumsTheSquaresOfAnyNumber) {
  std::vector<float> values;
  double sum = 0;
  for (int count = 0; count < 40; ++count) {
    // The sum must be exact: all terms and partial sums are integers below
    // 2^53, which a double represents exactly.
    EXPECT_EQ(SumOfSquares(values.data(), count), sum) << count;
    values.push_back(static_cast<float>(count + 1));
    sum += (count + 1.0) * (count + 1.0);
  }
}

TEST(GradientNormTest, SquaresThatAreTooLargeForFloatAreNot) {
  const float large = 1e30f;
  // The sum must be exact: a double can represent the square of any float
  // exactly.
  EXPECT_EQ(SumOfSquares(&large, 1), double{large} * large);
}

TEST(GradientNormTest, OnlyTooLongGradientsAreShortened) {
  EXPECT_EQ(ClipCoefficient(4, 1), 1 / (2 + 1e-6));
  EXPECT_EQ(ClipCoefficient(0.25, 1), 1);
  EXPECT_EQ(ClipCoefficient(0, 1), 1);
  EXPECT_TRUE(std::isnan(ClipCoefficient(kNan, 1)));
  EXPECT_EQ(ClipCoefficient(kInfinity, 1), 0);
}

TEST(GradientNormTest, Scales) {
  std::vector<float> values = {1, -2, 4};
  Scale(values.data(), 3, 0.5);
  EXPECT_EQ(values, (std::vector<float>{0.5f, -1, 2}));
}

TEST(GradientNormTest, TheSumIsFiniteOnlyIfEveryValueIs) {
  for (int at = 0; at < 20; ++at) {
    std::vector<float> values(20, std::numeric_limits<float>::max());
    EXPECT_TRUE(std::isfinite(SumOfSquares(values.data(), 20)));
    for (const float bad : {kInfinity, -kInfinity, kNan}) {
      values[at] = bad;
      EXPECT_FALSE(std::isfinite(SumOfSquares(values.data(), 20))) << at;
    }
  }
}

}  // namespace
}  // namespace muster
