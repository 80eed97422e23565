#include "models/kernels/cross_entropy.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "models/kernels/finite_difference.h"

namespace muster {
namespace {

TEST(CrossEntropyTest, GradientIsThatOfDifferences) {
  constexpr int64_t kRows = 3;
  constexpr int64_t kClasses = 7;
  std::vector<double> logits = Numbers(kRows * kClasses, 1);
  const std::vector<int32_t> targets = {6, 0, 3};
  std::vector<double> gradient = logits;
  const double loss = CrossEntropyWithGradient(gradient.data(), targets.data(),
                                               kRows, kClasses, 0.5);
  EXPECT_NEAR(loss,
              CrossEntropy(logits.data(), targets.data(), kRows, kClasses),
              1e-12);
  ExpectGradient(logits, gradient, [&] {
    return 0.5 * CrossEntropy(logits.data(), targets.data(), kRows, kClasses);
  });
}

TEST(CrossEntropyTest, WithoutKnowledgeItIsTheLogarithmOfTheClasses) {
  const std::vector<float> logits(65, 3.0f);
  const int32_t target = 12;
  EXPECT_NEAR(CrossEntropy(logits.data(), &target, 1, 65), std::log(65.0),
              1e-6);
}

TEST(CrossEntropyTest, LargeLogitsDoNotOverflow) {
  std::vector<float> logits = {1e4f, -1e4f};
  const int32_t wrong = 1;
  EXPECT_NEAR(CrossEntropy(logits.data(), &wrong, 1, 2), 2e4, 1);
  CrossEntropyWithGradient(logits.data(), &wrong, 1, 2, 1.0f);
  EXPECT_FLOAT_EQ(logits[0], 1);
  EXPECT_FLOAT_EQ(logits[1], -1);
}

}  // namespace
}  // namespace muster
