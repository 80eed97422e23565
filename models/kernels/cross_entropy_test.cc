#include <cmath>
#include <vector>

#include "base/testing/rounding.h"
#include "gtest/gtest.h"
#include "models/kernels/finite_difference.h"
#include "models/kernels/layers.h"

namespace muster::models {
namespace {

TEST(CrossEntropyTest, GradientIsThatOfDifferences) {
  constexpr int64_t kRows = 3;
  constexpr int64_t kClasses = 7;
  std::vector<double> logits = Numbers(kRows * kClasses, 1);
  const std::vector<int32_t> targets = {6, 0, 3};
  std::vector<double> gradient = logits;
  const double loss = CrossEntropyWithGradient(gradient.data(), targets.data(),
                                               kRows, kClasses, 0.5);
  // Maximum number of successive roundings in one result: those of a row's sum,
  // its exponentials and logarithm, and the sum over the rows.
  constexpr int kOperations = kClasses + 8 + kRows;
  // The magnitude of a row's loss, which is the sum of a logarithm and a logit.
  const double magnitude = 2 + std::log(kClasses);
  EXPECT_NEAR(loss,
              CrossEntropy(logits.data(), targets.data(), kRows, kClasses),
              RoundingBound<double>(kOperations, magnitude));
  ExpectGradient(logits, gradient, kOperations, [&] {
    return LossSum{
        0.5 * CrossEntropy(logits.data(), targets.data(), kRows, kClasses),
        magnitude};
  });
}

TEST(CrossEntropyTest, WithoutKnowledgeItIsTheLogarithmOfTheClasses) {
  const std::vector<float> logits(65, 3.0f);
  const int32_t target = 12;
  // All 65 logits are equal, so the sum of 65 terms e^0 is exact. The
  // logarithms in CrossEntropy and in the expected value round once each.
  EXPECT_NEAR(CrossEntropy(logits.data(), &target, 1, 65), std::log(65.0),
              RoundingBound<double>(1, std::log(65.0)));
}

TEST(CrossEntropyTest, LargeLogitsDoNotOverflow) {
  std::vector<float> logits = {1e4f, -1e4f};
  const int32_t wrong = 1;
  // The loss is log(1 + e^-20000) + 20000. In floating point, 1 + e^-20000 is
  // exactly 1, so the logarithm is 0.
  EXPECT_EQ(CrossEntropy(logits.data(), &wrong, 1, 2), 2e4);
  CrossEntropyWithGradient(logits.data(), &wrong, 1, 2, 1.0f);
  EXPECT_EQ(logits[0], 1);
  EXPECT_EQ(logits[1], -1);
}

}  // namespace
}  // namespace muster::models
