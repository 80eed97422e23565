#include "trainer_sdk/kernels/gelu.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "trainer_sdk/kernels/finite_difference.h"

namespace muster {
namespace {

TEST(GeluTest, GradientIsThatOfDifferences) {
  std::vector<double> input = Numbers(40, 1);
  for (double& x : input) x *= 4;
  const std::vector<double> upstream = Numbers(40, 2);
  const auto loss = [&] {
    std::vector<double> output(input.size());
    GeluForward(input.data(), 40, output.data());
    return Dot(output, upstream);
  };
  std::vector<double> gradient(input.size());
  GeluBackward(input.data(), upstream.data(), 40, gradient.data());
  ExpectGradient(input, gradient, loss);
}

TEST(GeluTest, FloatIsAsDouble) {
  for (float x = -12; x < 12; x += 0.0131f) {
    const double wide = x;
    double expected = 0;
    float got = 0;
    GeluForward(&wide, 1, &expected);
    GeluForward(&x, 1, &got);
    EXPECT_NEAR(got, expected, 3e-7 * std::max(1.0, std::abs(expected))) << x;
    const double one = 1;
    const float narrow_one = 1;
    GeluBackward(&wide, &one, 1, &expected);
    GeluBackward(&x, &narrow_one, 1, &got);
    EXPECT_NEAR(got, expected, 3e-6) << x;
  }
}

}  // namespace
}  // namespace muster
