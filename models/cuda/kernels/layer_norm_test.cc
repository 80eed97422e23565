#include "models/cuda/kernels/kernels.h"
#include "models/kernels/layers.h"
#include "trainer_sdk/cuda/testing/kernel_case.h"

namespace muster::models::cuda {
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
    const auto upstream = this->Numbers(rows * width, 4);
    // The kernels add to these arrays, which are not zero before the call.
    const auto input_before = this->Numbers(rows * width, 5);
    const auto gain_before = this->Numbers(width, 6);
    const auto bias_before = this->Numbers(width, 7);

    const auto own_input = this->Narrowed(input);
    const auto own_gain = this->Narrowed(gain);
    const auto own_bias = this->Narrowed(bias);
    const bool biased = has_bias == Bias::kThere;
    std::vector<Element> output(input.size());
    std::vector<float> mean(static_cast<size_t>(rows));
    std::vector<float> scale(mean.size());
    LayerNormForward(own_input.data(), own_gain.data(),
                     biased ? own_bias.data() : nullptr, rows, width,
                     output.data(), mean.data(), scale.data(), nullptr);
    auto input_gradient = this->Narrowed(input_before);
    auto gain_gradient = gain_before;
    auto bias_gradient = bias_before;
    const auto own_upstream = this->Narrowed(upstream);
    std::vector<float> scratch(
        static_cast<size_t>(LayerNormScratchCount(rows, width)));
    LayerNormBackward(own_upstream.data(), own_input.data(), own_gain.data(),
                      mean.data(), scale.data(), rows, width, scratch.data(),
                      input_gradient.data(), gain_gradient.data(),
                      biased ? bias_gradient.data() : nullptr, nullptr);

    const auto exact = [&](Disturbance disturb) {
      const auto wide = [&](const std::vector<float>& values) {
        std::vector<double> list(values.begin(), values.end());
        disturb(list);
        return list;
      };
      const auto x = wide(input);
      const auto g = wide(gain);
      const auto b = wide(bias);
      const auto dy = wide(upstream);
      std::vector<std::vector<double>> made = {
          std::vector<double>(input.size()),
          std::vector<double>(mean.size()),
          std::vector<double>(mean.size()),
          wide(input_before),
          wide(gain_before),
          wide(bias_before)};
      muster::models::LayerNormForward(
          x.data(), g.data(), biased ? b.data() : nullptr, rows, width,
          made[0].data(), made[1].data(), made[2].data());
      for (int i = 0; i < 3; ++i) disturb(made[i]);
      muster::models::LayerNormBackward(dy.data(), x.data(), g.data(),
                                        made[1].data(), made[2].data(), rows,
                                        width, made[3].data(), made[4].data(),
                                        biased ? made[5].data() : nullptr);
      for (int i = 3; i < 6; ++i) disturb(made[i]);
      return made;
    };
    // Maximum number of successive roundings in one result: those of two sums
    // over a row, the sum over the rows, a root and products.
    this->ExpectRounded({this->FoundOf(output),
                         {mean},
                         {scale},
                         this->FoundOf(input_gradient),
                         {gain_gradient},
                         {bias_gradient}},
                        static_cast<double>(rows + 2 * width) + 8, exact);
  }
};

TYPED_TEST_SUITE(CudaLayerNormTest, KernelCases);

TYPED_TEST(CudaLayerNormTest, AsOnTheCpu) {
  using Bias = typename TestFixture::Bias;
  this->CompareWithCpu(7, 45, Bias::kThere);
  this->CompareWithCpu(1, 5, Bias::kThere);
  // With 131 rows, each sum over the rows is divided into two parts (RowParts).
  this->CompareWithCpu(131, 33, Bias::kThere);
}

TYPED_TEST(CudaLayerNormTest, WithoutABias) {
  this->CompareWithCpu(5, 67, TestFixture::Bias::kNone);
}

}  // namespace
}  // namespace muster::models::cuda
