#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "models/kernels/sums.h"

namespace muster::models {
namespace {

TEST(ExponentialTest, IsWithinTwoUnitsInTheLastPlace) {
  double worst = 0;
  for (float x = -87; x < 88; x += 0.00037f) {
    const double exact = std::exp(static_cast<double>(x));
    worst = std::max(worst, std::abs(Exponential(x) - exact) / exact);
  }
  EXPECT_LT(worst, 2 * std::numeric_limits<float>::epsilon());
}

TEST(ExponentialTest, IsExactAtZeroAndFiniteEverywhere) {
  EXPECT_EQ(Exponential(0.0f), 1.0f);
  EXPECT_GT(Exponential(1e30f), 1e38f);
  EXPECT_TRUE(std::isfinite(Exponential(1e30f)));
  EXPECT_LT(Exponential(-1e30f), 2e-38f);
  EXPECT_GT(Exponential(-1e30f), 0.0f);
}

TEST(ExponentialTest, OfNoNumberItIsNone) {
  EXPECT_TRUE(std::isnan(Exponential(std::numeric_limits<float>::quiet_NaN())));
}

}  // namespace
}  // namespace muster::models
