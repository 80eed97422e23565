#include "models/cuda/kernels/gelu.h"

#include "models/cuda/kernels/kernel_case.h"
#include "models/kernels/gelu.h"

namespace muster::cuda {
namespace {

template <typename Case>
class CudaGeluTest : public KernelTest<Case> {
 public:
  // The CPU's output, and the slope of input + bias.
  static void Reference(const std::vector<float>& input,
                        const std::vector<float>& bias,
                        std::vector<float>* output, std::vector<float>* slope) {
    std::vector<float> sum = input;
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += bias[i % bias.size()];
    output->resize(sum.size());
    slope->resize(sum.size());
    GeluForward(sum.data(), static_cast<int64_t>(sum.size()), output->data(),
                slope->data());
  }
};

TYPED_TEST_SUITE(CudaGeluTest, KernelCases);

TYPED_TEST(CudaGeluTest, AsOnTheCpu) {
  // More columns than threads read at once, several per thread, and fewer than
  // threads.
  for (const int64_t width : {1300, 517, 9}) {
    constexpr int64_t kRows = 3;
    const auto input = this->Numbers(kRows * width, 1, 6);
    const auto bias = this->Numbers(width, 2);
    const auto given = this->Numbers(kRows * width, 3);
    std::vector<float> expected;
    std::vector<float> slope;
    this->Reference(input, bias, &expected, &slope);

    const auto narrow_input = this->Narrowed(input);
    const auto narrow_bias = this->Narrowed(bias);
    auto output = narrow_input;
    BiasGeluForward(narrow_input.data(), narrow_bias.data(), kRows, width,
                    output.data(), nullptr);
    this->ExpectElements(output, expected);

    auto gradient = this->Narrowed(given);
    BiasGeluBackward(narrow_input.data(), narrow_bias.data(), kRows, width,
                     gradient.data(), nullptr);
    for (size_t i = 0; i < slope.size(); ++i) slope[i] *= given[i];
    this->ExpectElements(gradient, slope);
  }
}

TYPED_TEST(CudaGeluTest, WithoutABias) {
  constexpr int64_t kWidth = 33;
  const auto input = this->Numbers(kWidth, 1, 3);
  std::vector<float> expected;
  std::vector<float> slope;
  this->Reference(input, {0}, &expected, &slope);
  const auto narrow = this->Narrowed(input);
  auto output = narrow;
  BiasGeluForward<typename TestFixture::Element>(
      narrow.data(), nullptr, 1, kWidth, output.data(), nullptr);
  this->ExpectElements(output, expected);
  auto gradient = this->Narrowed(std::vector<float>(kWidth, 1));
  BiasGeluBackward<typename TestFixture::Element>(
      narrow.data(), nullptr, 1, kWidth, gradient.data(), nullptr);
  this->ExpectElements(gradient, slope);
}

// e^x overflows in between, but the result must not.
TYPED_TEST(CudaGeluTest, FarFromZero) {
  const auto input = this->Narrowed({-1e4f, -100, 100, 1e4f});
  auto output = input;
  BiasGeluForward<typename TestFixture::Element>(input.data(), nullptr, 1, 4,
                                                 output.data(), nullptr);
  this->ExpectElements(output,
                       this->Widened(this->Narrowed({0, 0, 100, 1e4f})));
  auto gradient = this->Narrowed({1, 1, 1, 1});
  BiasGeluBackward<typename TestFixture::Element>(input.data(), nullptr, 1, 4,
                                                  gradient.data(), nullptr);
  this->ExpectElements(gradient, {0, 0, 1, 1});
}

}  // namespace
}  // namespace muster::cuda
