#include <vector>

#include "base/testing/rounding.h"
#include "gtest/gtest.h"
#include "models/kernels/finite_difference.h"
#include "models/kernels/layers.h"

namespace muster::models {
namespace {

constexpr int64_t kRows = 3;
constexpr int64_t kWidth = 11;
// Maximum number of successive roundings in one result: those of two sums over
// a row (for mean and variance), and those of the scale and the product.
constexpr int kOperations = 2 * kWidth + 8;

TEST(LayerNormTest, RowsHaveNoMeanAndUnitVariance) {
  const std::vector<double> input = Numbers(kRows * kWidth, 1);
  const std::vector<double> ones(kWidth, 1);
  const std::vector<double> zeros(kWidth, 0);
  std::vector<double> output(kRows * kWidth);
  std::vector<double> mean(kRows);
  std::vector<double> scale(kRows);
  LayerNormForward(input.data(), ones.data(), zeros.data(), kRows, kWidth,
                   output.data(), mean.data(), scale.data());
  for (int64_t i = 0; i < kRows; ++i) {
    double sum = 0;
    double square = 0;
    for (int64_t j = 0; j < kWidth; ++j) {
      sum += output[i * kWidth + j];
      square += output[i * kWidth + j] * output[i * kWidth + j];
    }
    // The mean is 0 up to the rounding errors of kWidth terms of size about 1.
    EXPECT_NEAR(sum, 0, RoundingBound<double>(kOperations, kWidth));
    // The expected variance of the output: a little below 1, because layer norm
    // adds 1e-5 to the input's variance, so that it never divides by 0.
    double variance = 0;
    for (int64_t j = 0; j < kWidth; ++j) {
      const double from_mean = input[i * kWidth + j] - mean[i];
      variance += from_mean * from_mean / kWidth;
    }
    EXPECT_NEAR(square / kWidth, variance / (variance + 1e-5),
                RoundingBound<double>(kOperations, 1));
  }
}

TEST(LayerNormTest, GradientsAreThoseOfDifferences) {
  std::vector<double> input = Numbers(kRows * kWidth, 1);
  std::vector<double> gain = Numbers(kWidth, 2);
  std::vector<double> bias = Numbers(kWidth, 3);
  const std::vector<double> upstream = Numbers(kRows * kWidth, 4);
  std::vector<double> output(kRows * kWidth);
  std::vector<double> mean(kRows);
  std::vector<double> scale(kRows);
  const auto loss = [&] {
    LayerNormForward(input.data(), gain.data(), bias.data(), kRows, kWidth,
                     output.data(), mean.data(), scale.data());
    return Dot(output, upstream);
  };
  loss();
  std::vector<double> input_gradient(kRows * kWidth);
  std::vector<double> gain_gradient(kWidth);
  std::vector<double> bias_gradient(kWidth);
  LayerNormBackward(upstream.data(), input.data(), gain.data(), mean.data(),
                    scale.data(), kRows, kWidth, input_gradient.data(),
                    gain_gradient.data(), bias_gradient.data());
  ExpectGradient(input, input_gradient, kOperations + kRows * kWidth, loss);
  ExpectGradient(gain, gain_gradient, kOperations + kRows * kWidth, loss);
  ExpectGradient(bias, bias_gradient, kOperations + kRows * kWidth, loss);
}

TEST(LayerNormTest, ABiasMayBeMissing) {
  const std::vector<double> input = {1, 3};
  const std::vector<double> gain = {2, 2};
  const std::vector<double> zero = {0, 0};
  std::vector<double> with(2);
  std::vector<double> without(2);
  double mean = 0;
  double scale = 0;
  LayerNormForward(input.data(), gain.data(), zero.data(), 1, 2, with.data(),
                   &mean, &scale);
  LayerNormForward<double>(input.data(), gain.data(), nullptr, 1, 2,
                           without.data(), &mean, &scale);
  EXPECT_EQ(with, without);
}

}  // namespace
}  // namespace muster::models
