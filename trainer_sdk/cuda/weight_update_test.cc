#include "trainer_sdk/cuda/kernels.h"
#include "trainer_sdk/cuda/testing/kernel_case.h"
#include "trainer_sdk/device/device.h"

namespace muster::cuda {
namespace {

template <typename Case>
class CudaWeightUpdateTest : public KernelTest<Case> {
 public:
  using Element = typename Case::Element;
  static constexpr DType kType =
      std::is_same_v<Element, float> ? DType::kFloat32 : DType::kBFloat16;
  static constexpr int64_t kCount = 517;
  static constexpr int kSteps = 4;

  // Runs kSteps updates both in the kernel and on the host, and compares the
  // weights and the optimizer's state. Gradients and values have the type
  // Element. `operations`: the largest number of roundings that one weight or
  // state element undergoes in a step.
  void Compare(const UpdateRule& rule, double operations) {
    auto weights = this->Numbers(kCount, 1);
    std::vector<float> states[2] = {std::vector<float>(kCount),
                                    std::vector<float>(kCount)};
    std::vector<Element> values(kCount);
    for (int number = 1; number <= kSteps; ++number) {
      const auto gradient = this->Narrowed(this->Numbers(kCount, 10 + number));
      const UpdateArrays arrays{.count = kCount,
                                .gradient = gradient.data(),
                                .gradient_type = kType,
                                .weights = weights.data(),
                                .first = states[0].data(),
                                .second = states[1].data(),
                                .values = values.data(),
                                .values_type = kType,
                                .precision = kType};
      if (rule.adamw() != nullptr) {
        AdamWUpdate(*rule.adamw(), Step(number), arrays, nullptr);
      } else {
        SgdUpdate(*rule.sgd(), Step(number), arrays, nullptr);
      }
      // The kernel writes the updated weights, rounded to its element type, to
      // `values`.
      EXPECT_EQ(this->Widened(values), this->Widened(this->Narrowed(weights)));
    }
    this->ExpectRounded(
        {{weights}, {states[0]}, {states[1]}}, operations,
        [&](Disturbance disturb) { return OnTheHost(rule, disturb); });
  }

 private:
  static OptimizerStep Step(int number) {
    return {.step = number,
            .learning_rate = 1e-2 / number,
            .gradient_factor = 0.25};
  }

  static std::vector<std::vector<double>> OnTheHost(const UpdateRule& rule,
                                                    Disturbance disturb) {
    std::vector<std::vector<float>> arrays = {
        CudaWeightUpdateTest::Numbers(kCount, 1), std::vector<float>(kCount),
        std::vector<float>(kCount)};
    for (int number = 1; number <= kSteps; ++number) {
      OptimizerStep step = Step(number);
      auto gradient = CudaWeightUpdateTest::Numbers(kCount, 10 + number);
      for (float& g : gradient) {
        g = static_cast<float>(
            disturb(g * static_cast<float>(step.gradient_factor)));
      }
      step.gradient_factor = 1;
      float* const states[2] = {arrays[1].data(), arrays[2].data()};
      rule.Update(step, WeightDecay::kApplied, kCount, arrays[0].data(),
                  gradient.data(), states);
      for (std::vector<float>& array : arrays) {
        std::vector<double> list(array.begin(), array.end());
        disturb(list);
        array = CudaWeightUpdateTest::Floats(list);
      }
    }
    std::vector<std::vector<double>> lists;
    for (const std::vector<float>& array : arrays) {
      lists.emplace_back(array.begin(), array.end());
    }
    return lists;
  }
};

TYPED_TEST_SUITE(CudaWeightUpdateTest, KernelCases);

TYPED_TEST(CudaWeightUpdateTest, AdamWIsThatOfTheHost) {
  this->Compare(*AdamWRule({.weight_decay = 0.1}), 12);
}

TYPED_TEST(CudaWeightUpdateTest, SgdIsThatOfTheHost) {
  this->Compare(*SgdRule({.weight_decay = 0.1}), 8);
  this->Compare(*SgdRule({.momentum = 0.9}), 8);
  this->Compare(*SgdRule({.momentum = 0.9,
                          .weight_decay = 0.1,
                          .lookahead = SgdOptions::Lookahead::kNesterov}),
                8);
}

// The output array `values` may be null, for a caller that reads the new
// weights from `weights`. It may also be an array of float32, with elements
// rounded to float16 precision.
TYPED_TEST(CudaWeightUpdateTest, ValuesMayBeMissingOrRoundedFloats) {
  constexpr int64_t kCount = 40;
  const std::vector<float> gradient(kCount, 0.25f);
  std::vector<float> weights(kCount, 1);
  std::vector<float> values(kCount, -1);
  UpdateArrays arrays{
      .count = kCount, .gradient = gradient.data(), .weights = weights.data()};
  SgdUpdate({}, {.step = 1, .learning_rate = 0.5}, arrays, nullptr);
  EXPECT_EQ(weights, std::vector<float>(kCount, 0.875f));
  arrays.values = values.data();
  arrays.precision = DType::kFloat16;
  SgdUpdate({}, {.step = 2, .learning_rate = 0.1}, arrays, nullptr);
  std::vector<float> expected(kCount);
  HostDevice().Convert(muster::Device::Stream::kCompute, weights, expected,
                       DType::kFloat16);
  EXPECT_NE(values, weights);
  EXPECT_EQ(values, expected);
}

}  // namespace
}  // namespace muster::cuda
