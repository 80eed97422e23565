#include "models/cuda/kernels/kernels.h"
#include "models/kernels/layers.h"
#include "trainer_sdk/cuda/testing/kernel_case.h"

namespace muster::models::cuda {
namespace {

template <typename Case>
class CudaCrossEntropyTest : public KernelTest<Case> {
 public:
  void CompareWithCpu(int64_t classes, const std::vector<float>& logits,
                      const std::vector<int32_t>& targets) {
    constexpr float kFactor = 0.5f;
    const auto rows = static_cast<int64_t>(targets.size());
    // A large number that fills the gap between two rows. The kernel must not
    // read the gap.
    constexpr float kBetween = 400;
    constexpr int64_t kGap = 3;
    const int64_t stride = classes + kGap;
    const auto spread = [&](const auto& values, float between) {
      auto all = values;
      all.assign(static_cast<size_t>(rows * stride), between);
      for (int64_t i = 0; i < rows * classes; ++i) {
        all[static_cast<size_t>(i / classes * stride + i % classes)] =
            values[static_cast<size_t>(i)];
      }
      return all;
    };
    auto own = this->Narrowed(spread(logits, kBetween));
    std::vector<float> losses(targets.size());
    double loss = 0;
    CrossEntropy(own.data(), targets.data(), rows, classes, stride,
                 losses.data(), &loss, nullptr);
    EXPECT_EQ(this->Widened(own), spread(logits, kBetween));
    const auto only = static_cast<float>(loss);
    CrossEntropyWithGradient(own.data(), targets.data(), rows, classes, stride,
                             kFactor, losses.data(), &loss, nullptr);
    // Maximum number of successive roundings in one result: those of the sum
    // over the classes, its exponentials and logarithm, and two products.
    this->ExpectRounded(
        {{{only}}, {{static_cast<float>(loss)}}, this->FoundOf(own)},
        static_cast<double>(classes) + 10, [&](Disturbance disturb) {
          std::vector<double> gradient(logits.begin(), logits.end());
          disturb(gradient);
          const double mean = muster::models::CrossEntropyWithGradient<double>(
              gradient.data(), targets.data(), rows, classes, kFactor);
          disturb(gradient);
          return std::vector<std::vector<double>>{
              {disturb(mean)}, {disturb(mean)}, spread(gradient, 0)};
        });
  }
};

TYPED_TEST_SUITE(CudaCrossEntropyTest, KernelCases);

TYPED_TEST(CudaCrossEntropyTest, AsOnTheCpu) {
  // 1303 classes are more than the threads of a block read at once. With 7
  // classes or 1 class, most threads read no class.
  this->CompareWithCpu(1303, this->Numbers(3 * 1303, 1, 5), {1302, 0, 517});
  this->CompareWithCpu(7, this->Numbers(2 * 7, 1, 5), {6, 0});
  this->CompareWithCpu(1, this->Numbers(1, 1, 5), {0});
}

TYPED_TEST(CudaCrossEntropyTest, MoreRowsThanThreads) {
  std::vector<int32_t> targets(300);
  for (size_t i = 0; i < targets.size(); ++i) {
    targets[i] = static_cast<int32_t>(i % 3);
  }
  this->CompareWithCpu(3, this->Numbers(900, 2, 5), targets);
}

TYPED_TEST(CudaCrossEntropyTest, LargeLogitsDoNotOverflow) {
  this->CompareWithCpu(2, this->Widened(this->Narrowed({1e4f, -1e4f})), {1});
}

}  // namespace
}  // namespace muster::models::cuda
