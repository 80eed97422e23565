#include "models/cuda/kernels/layer_norm.h"

#include "models/cuda/kernels/kernel_case.h"
#include "models/kernels/layer_norm.h"

namespace muster::cuda {
namespace {

template <typename Case>
class CudaLayerNormTest : public KernelTest<Case> {
 public:
  using Element = typename KernelTest<Case>::Element;

  enum class Bias { kThere, kNone };

  void CompareWithCpu(int64_t rows, int64_t width, Bias has_bias) {
    const auto input = this->Numbers(rows * width, 1, 3);
    const auto gain = this->Numbers(width, 2);
    const auto bias = this->Numbers(width, 3);
    const float* const bias_data =
        has_bias == Bias::kThere ? bias.data() : nullptr;
    std::vector<float> expected(input.size());
    std::vector<float> mean(static_cast<size_t>(rows));
    std::vector<float> scale(mean.size());
    muster::LayerNormForward(input.data(), gain.data(), bias_data, rows, width,
                             expected.data(), mean.data(), scale.data());

    const auto own_input = this->Narrowed(input);
    const auto own_gain = this->Narrowed(gain);
    const auto own_bias = this->Narrowed(bias);
    std::vector<Element> output(input.size());
    std::vector<float> own_mean(mean.size());
    std::vector<float> own_scale(mean.size());
    LayerNormForward(own_input.data(), own_gain.data(),
                     bias_data == nullptr ? nullptr : own_bias.data(), rows,
                     width, output.data(), own_mean.data(), own_scale.data(),
                     nullptr);
    this->ExpectElements(output, expected);
    this->ExpectNear(own_mean, mean);
    this->ExpectNear(own_scale, scale);

    // The arrays to which gradients are added are not zero before.
    const auto output_gradient = this->Numbers(rows * width, 4);
    auto input_gradient = this->Numbers(rows * width, 5);
    auto gain_gradient = this->Numbers(width, 6);
    auto bias_gradient = this->Numbers(width, 7);
    auto own_input_gradient = this->Narrowed(input_gradient);
    auto own_gain_gradient = gain_gradient;
    auto own_bias_gradient = bias_gradient;
    muster::LayerNormBackward(
        output_gradient.data(), input.data(), gain.data(), mean.data(),
        scale.data(), rows, width, input_gradient.data(), gain_gradient.data(),
        bias_data == nullptr ? nullptr : bias_gradient.data());
    const auto own_output_gradient = this->Narrowed(output_gradient);
    std::vector<float> scratch(
        static_cast<size_t>(LayerNormScratchCount(rows, width)));
    LayerNormBackward(
        own_output_gradient.data(), own_input.data(), own_gain.data(),
        mean.data(), scale.data(), rows, width, scratch.data(),
        own_input_gradient.data(), own_gain_gradient.data(),
        bias_data == nullptr ? nullptr : own_bias_gradient.data(), nullptr);
    this->ExpectElements(own_input_gradient, input_gradient);
    this->ExpectNear(own_gain_gradient, gain_gradient);
    this->ExpectNear(own_bias_gradient, bias_gradient);
  }
};

TYPED_TEST_SUITE(CudaLayerNormTest, KernelCases);

TYPED_TEST(CudaLayerNormTest, AsOnTheCpu) {
  using Bias = typename TestFixture::Bias;
  this->CompareWithCpu(7, 45, Bias::kThere);
  this->CompareWithCpu(1, 5, Bias::kThere);
  // More rows than one part of the sums.
  this->CompareWithCpu(131, 33, Bias::kThere);
}

TYPED_TEST(CudaLayerNormTest, WithoutABias) {
  this->CompareWithCpu(5, 67, TestFixture::Bias::kNone);
}

}  // namespace
}  // namespace muster::cuda
