#include "models/cuda/kernels/kernels.h"
#include "models/kernels/layers.h"
#include "trainer_sdk/cuda/testing/kernel_case.h"

namespace muster::models::cuda {
namespace {

template <typename Case>
class CudaGeluTest : public KernelTest<Case> {
 public:
  using Element = typename KernelTest<Case>::Element;

  // Compares the kernels' outputs and gradients with those of the CPU. `bias`:
  // one number for all columns, or one number for each column. `bias_data`: the
  // bias that the kernels get, with one element for each column; null: no bias.
  void CompareWithCpu(const std::vector<float>& input,
                      const std::vector<float>& bias, const Element* bias_data,
                      int64_t rows, const std::vector<float>& given) {
    const auto width = std::ssize(input) / rows;
    const auto narrow_input = this->Narrowed(input);
    auto output = narrow_input;
    BiasGeluForward(narrow_input.data(), bias_data, rows, width, output.data(),
                    nullptr);
    auto gradient = this->Narrowed(given);
    BiasGeluBackward(narrow_input.data(), bias_data, rows, width,
                     gradient.data(), nullptr);
    // Maximum number of successive roundings in one result: those of an
    // exponential (accurate to two units in the last place), and of the
    // products and sums around it.
    constexpr int kOperations = 20;
    this->ExpectRounded(
        {this->FoundOf(output), this->FoundOf(gradient)}, kOperations,
        [&](Disturbance disturb) {
          std::vector<double> sum(input.begin(), input.end());
          for (size_t i = 0; i < sum.size(); ++i) {
            sum[i] = disturb(sum[i] + bias[i % bias.size()]);
          }
          std::vector<double> outputs(sum.size());
          std::vector<double> gradients(sum.size());
          GeluForward(sum.data(), std::ssize(sum), outputs.data(),
                      gradients.data());
          for (size_t i = 0; i < sum.size(); ++i) gradients[i] *= given[i];
          disturb(outputs);
          disturb(gradients);
          return std::vector<std::vector<double>>{outputs, gradients};
        });
  }
};

TYPED_TEST_SUITE(CudaGeluTest, KernelCases);

TYPED_TEST(CudaGeluTest, AsOnTheCpu) {
  // The threads of a block read up to 1024 columns at once. 1300 columns need
  // two such reads. With 517 columns, each thread reads two or three. With 9
  // columns, most threads read none.
  for (const int64_t width : {1300, 517, 9}) {
    constexpr int64_t kRows = 3;
    const auto input = this->Numbers(kRows * width, 1, 6);
    const auto bias = this->Numbers(width, 2);
    const auto narrow_bias = this->Narrowed(bias);
    this->CompareWithCpu(input, bias, narrow_bias.data(), kRows,
                         this->Numbers(kRows * width, 3));
  }
}

TYPED_TEST(CudaGeluTest, WithoutABias) {
  constexpr int64_t kWidth = 33;
  this->CompareWithCpu(this->Numbers(kWidth, 1, 3), {0}, nullptr, 1,
                       std::vector<float>(kWidth, 1));
}

// Far from zero an intermediate e^x overflows, but output and gradient must be
// finite.
TYPED_TEST(CudaGeluTest, FarFromZero) {
  const auto input = this->Narrowed({-1e4f, -100, 100, 1e4f});
  auto output = input;
  BiasGeluForward<typename TestFixture::Element>(input.data(), nullptr, 1, 4,
                                                 output.data(), nullptr);
  EXPECT_EQ(this->Widened(output),
            this->Widened(this->Narrowed({0, 0, 100, 1e4f})));
  auto gradient = this->Narrowed({1, 1, 1, 1});
  BiasGeluBackward<typename TestFixture::Element>(input.data(), nullptr, 1, 4,
                                                  gradient.data(), nullptr);
  EXPECT_EQ(this->Widened(gradient), (std::vector<float>{0, 0, 1, 1}));
}

}  // namespace
}  // namespace muster::models::cuda
