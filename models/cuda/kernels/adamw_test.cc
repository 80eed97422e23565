#include "models/cuda/kernels/adamw.h"

#include "models/cuda/kernels/kernel_case.h"

namespace muster::cuda {
namespace {

template <typename Case>
class CudaAdamWTest : public KernelTest<Case> {};

TYPED_TEST_SUITE(CudaAdamWTest, KernelCases);

TYPED_TEST(CudaAdamWTest, StepsAsOnTheCpu) {
  using Element = typename TestFixture::Element;
  constexpr int64_t kCount = 517;
  constexpr float kGradientFactor = 0.25f;
  const AdamWOptions options = {.weight_decay = 0.1};
  auto weights = this->Numbers(kCount, 1);
  std::vector<float> mean(kCount);
  std::vector<float> square(kCount);
  auto own_weights = weights;
  auto own_mean = mean;
  auto own_square = square;
  std::vector<Element> working(kCount);
  for (int step = 1; step <= 4; ++step) {
    auto gradient = this->Numbers(kCount, 10 + step);
    const double rate = 1e-2 / step;
    AdamWStep(options,
              {.step = step,
               .learning_rate = rate,
               .gradient_factor = kGradientFactor},
              AdamWTensors<Element>{.count = kCount,
                                    .gradient = gradient.data(),
                                    .weights = own_weights.data(),
                                    .mean = own_mean.data(),
                                    .square = own_square.data(),
                                    .working = working.data()},
              nullptr);
    for (float& g : gradient) g *= kGradientFactor;
    muster::AdamWStep(options, rate, step, kCount, weights.data(),
                      gradient.data(), mean.data(), square.data());
    this->ExpectNear(own_weights, weights);
    this->ExpectNear(own_mean, mean);
    this->ExpectNear(own_square, square);
    this->ExpectElements(working, own_weights);
  }
}

}  // namespace
}  // namespace muster::cuda
