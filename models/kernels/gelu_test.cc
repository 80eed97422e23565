#include <cmath>
#include <numbers>
#include <vector>

#include "base/testing/rounding.h"
#include "gtest/gtest.h"
#include "models/kernels/finite_difference.h"
#include "models/kernels/layers.h"

namespace muster::models {
namespace {

// Maximum number of successive roundings in one result: those of an exponential
// (accurate to two units in the last place), and of the products and sums
// around it.
constexpr int kOperations = 20;

// GELU multiplies x by the share 1 / (1 + e^-v), where v (`exponent`) is a
// polynomial of x. Returns the rounding error of the share, in units of one
// rounding. The error has two parts: the rounding errors of the share's own
// operations, and the rounding error of v times the share's slope.
double Amplification(double x) {
  const double exponent =
      2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  const double share = 1 / (1 + std::exp(-exponent));
  return share + std::abs(exponent) * share * (1 - share);
}

// GELU multiplies x by the share 1 / (1 + e^-v) (see Amplification). This is
// the maximum error of the share if the exact share is almost 0. The float
// kernel never computes a share below about e^-88. So its error is at most
// about e^-88, which is less than kLeastShare.
const double kLeastShare = std::exp(-87.0);

// GELU multiplies x by the share s = 1 / (1 + e^-v), where v is a polynomial of
// x. Its slope at x is a sum of terms, each of which has the factor s. Returns
// an upper bound of (sum of the terms' magnitudes) / s.
double Steepness(double x) { return 1 + 2 * std::abs(x) * (1 + 0.14 * x * x); }

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
  // An output has kOperations successive roundings, and the loss adds 40
  // outputs.
  ExpectGradient(input, gradient, kOperations + 40, loss);
}

TEST(GeluTest, IsItsDefinition) {
  for (double x = -12; x < 12; x += 0.131) {
    double got = 0;
    double slope = 0;
    GeluForward(&x, 1, &got, &slope);
    const double inner =
        std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
    // The expected value contains 1 + tanh. If tanh is near -1, this sum is
    // small, but its rounding error is as large as that of numbers near 1.
    // Hence the term 1 in the bound below.
    EXPECT_NEAR(got, 0.5 * x * (1 + std::tanh(inner)),
                RoundingBound<double>(kOperations,
                                      std::abs(x) * (1 + Amplification(x))))
        << x;
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
    const double within =
        RoundingBound<float>(kOperations, Amplification(wide)) + kLeastShare;
    EXPECT_NEAR(got, expected, std::abs(wide) * within) << x;
    EXPECT_NEAR(slope, expected_slope, Steepness(wide) * within) << x;
  }
}

TEST(GeluTest, FarOutItIsTheInputOrNothing) {
  const std::vector<float> input = {-1e20f, -50, 50, 1e12f};
  std::vector<float> output(4);
  std::vector<float> slope(4);
  GeluForward(input.data(), 4, output.data(), slope.data());
  EXPECT_NEAR(output[1], 0, 50 * kLeastShare);
  EXPECT_EQ(output[2], 50);
  EXPECT_EQ(output[3], 1e12f);
  EXPECT_NEAR(slope[1], 0, Steepness(50) * kLeastShare);
  EXPECT_EQ(slope[2], 1);
}

}  // namespace
}  // namespace muster::models
