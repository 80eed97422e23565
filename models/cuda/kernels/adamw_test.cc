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
  constexpr int kSteps = 4;
  const auto rate = [](int step) { return 1e-2 / step; };
  auto weights = this->Numbers(kCount, 1);
  std::vector<float> mean(kCount);
  std::vector<float> square(kCount);
  std::vector<Element> working(kCount);
  for (int step = 1; step <= kSteps; ++step) {
    const auto gradient = this->Numbers(kCount, 10 + step);
    AdamWStep(options,
              {.step = step,
               .learning_rate = rate(step),
               .gradient_factor = kGradientFactor},
              AdamWTensors<Element>{.count = kCount,
                                    .gradient = gradient.data(),
                                    .weights = weights.data(),
                                    .mean = mean.data(),
                                    .square = square.data(),
                                    .working = working.data()},
              nullptr);
    // The passes' weights are the master weights in the kernel's type.
    EXPECT_EQ(this->Widened(working), this->Widened(this->Narrowed(weights)));
  }
  // Each step rounds an element's mean, square and weight by at most 12
  // operations.
  this->ExpectRounded(
      {{weights}, {mean}, {square}}, 12, [&](Disturbance disturb) {
        std::vector<float> values = this->Numbers(kCount, 1);
        std::vector<std::vector<double>> lists(3);
        std::vector<float> moments[2] = {std::vector<float>(kCount),
                                         std::vector<float>(kCount)};
        for (int step = 1; step <= kSteps; ++step) {
          auto gradient = this->Numbers(kCount, 10 + step);
          for (float& g : gradient) {
            g = static_cast<float>(disturb(g * kGradientFactor));
          }
          muster::AdamWStep(options, rate(step), step, kCount, values.data(),
                            gradient.data(), moments[0].data(),
                            moments[1].data());
          lists = {{values.begin(), values.end()},
                   {moments[0].begin(), moments[0].end()},
                   {moments[1].begin(), moments[1].end()}};
          for (std::vector<double>& list : lists) disturb(list);
          values = this->Floats(lists[0]);
          moments[0] = this->Floats(lists[1]);
          moments[1] = this->Floats(lists[2]);
        }
        return lists;
      });
}

}  // namespace
}  // namespace muster::cuda
