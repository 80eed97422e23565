#include <vector>

#include "gtest/gtest.h"
#include "models/kernels/finite_difference.h"
#include "models/kernels/layers.h"

namespace muster::models {
namespace {

TEST(LinearTest, GradientsAreThoseOfDifferences) {
  constexpr int64_t kRows = 4;
  constexpr int64_t kIn = 3;
  constexpr int64_t kOut = 5;
  // Maximum number of successive roundings in one result: those of the sum in
  // an output element (kIn), of the bias and the product with it (2), and of
  // the sum over the outputs in the loss (kRows * kOut).
  constexpr int kOperations = kIn + 2 + kRows * kOut;
  std::vector<double> input = Numbers(kRows * kIn, 1);
  std::vector<double> weight = Numbers(kIn * kOut, 2);
  std::vector<double> bias = Numbers(kOut, 3);
  const std::vector<double> upstream = Numbers(kRows * kOut, 4);
  const auto loss = [&] {
    std::vector<double> output(kRows * kOut);
    LinearForward(input.data(), weight.data(), bias.data(), kRows, kIn, kOut,
                  output.data());
    return Dot(output, upstream);
  };
  std::vector<double> input_gradient(kRows * kIn, 99);
  LinearBackwardInput(upstream.data(), weight.data(), kRows, kIn, kOut,
                      input_gradient.data());
  ExpectGradient(input, input_gradient, kOperations, loss);
  // The gradients begin with 1, not 0, because LinearBackwardWeight must add to
  // them instead of overwriting them.
  std::vector<double> weight_gradient(kIn * kOut, 1);
  std::vector<double> bias_gradient(kOut, 1);
  LinearBackwardWeight(input.data(), upstream.data(), kRows, kIn, kOut,
                       weight_gradient.data(), bias_gradient.data());
  for (double& value : weight_gradient) value -= 1;
  for (double& value : bias_gradient) value -= 1;
  ExpectGradient(weight, weight_gradient, kOperations, loss);
  ExpectGradient(bias, bias_gradient, kOperations, loss);
}

TEST(LinearTest, FloatIsTheSameButRounded) {
  const std::vector<float> input = {1, 2};
  const std::vector<float> weight = {1, 2, 3, 10, 20, 30};
  const std::vector<float> bias = {0.5f, 0, -0.5f};
  std::vector<float> output(3);
  LinearForward(input.data(), weight.data(), bias.data(), 1, 2, 3,
                output.data());
  EXPECT_EQ(output, (std::vector<float>{21.5f, 42, 62.5f}));
}

TEST(LinearTest, AddsToWhatIsThere) {
  const std::vector<float> input = {1, 2};
  const std::vector<float> weight = {1, 2, 3, 10, 20, 30};
  const std::vector<float> bias = {0.5f, 0, -0.5f};
  std::vector<float> output = {100, 200, 300};
  AddLinear(input.data(), weight.data(), bias.data(), 1, 2, 3, output.data());
  EXPECT_EQ(output, (std::vector<float>{121.5f, 242, 362.5f}));
  AddLinear<float>(input.data(), weight.data(), nullptr, 1, 2, 3,
                   output.data());
  EXPECT_EQ(output, (std::vector<float>{142.5f, 284, 425.5f}));
}

TEST(LinearTest, ABiasMayBeMissing) {
  const std::vector<float> input = {1, 2};
  const std::vector<float> weight = {3, 4};
  float output = 99;
  LinearForward<float>(input.data(), weight.data(), nullptr, 1, 2, 1, &output);
  EXPECT_EQ(output, 11);
  std::vector<float> gradient(2);
  LinearBackwardWeight<float>(input.data(), &output, 1, 2, 1, gradient.data(),
                              nullptr);
  EXPECT_EQ(gradient, (std::vector<float>{11, 22}));
}

}  // namespace
}  // namespace muster::models
