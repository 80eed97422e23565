#include <vector>

#include "base/testing/rounding.h"
#include "gtest/gtest.h"
#include "models/kernels/finite_difference.h"
#include "models/kernels/layers.h"

namespace muster::models {
namespace {

// Maximum number of successive roundings in one result: 4 in the sum of a
// score, 5 in the sum of an output, 8 in the softmax, and 2 * 5 * 12 in the sum
// of the loss over all outputs.
constexpr int kOperations = 4 + 5 + 8 + 2 * 5 * 12;
constexpr AttentionShape kShape{.batch = 2, .time = 5, .heads = 3, .width = 12};

TEST(AttentionTest, GradientsAreThoseOfDifferences) {
  std::vector<double> qkv =
      Numbers(kShape.batch * kShape.time * 3 * kShape.width, 1);
  const std::vector<double> upstream =
      Numbers(kShape.batch * kShape.time * kShape.width, 2);
  std::vector<double> scratch(AttentionScratchCount(kShape));
  std::vector<double> probabilities(ProbabilitiesCount(kShape));
  std::vector<double> output(upstream.size());
  const auto loss = [&] {
    AttentionForward(kShape, qkv.data(), scratch.data(), probabilities.data(),
                     output.data());
    return Dot(output, upstream);
  };
  loss();
  std::vector<double> gradient(qkv.size(), 99);
  AttentionBackward(kShape, qkv.data(), probabilities.data(), upstream.data(),
                    scratch.data(), gradient.data());
  ExpectGradient(qkv, gradient, kOperations, loss);
}

TEST(AttentionTest, NothingIsSeenOfTheFuture) {
  std::vector<double> qkv =
      Numbers(kShape.batch * kShape.time * 3 * kShape.width, 1);
  std::vector<double> scratch(AttentionScratchCount(kShape));
  std::vector<double> probabilities(ProbabilitiesCount(kShape));
  std::vector<double> before(kShape.batch * kShape.time * kShape.width);
  std::vector<double> after(before.size());
  AttentionForward(kShape, qkv.data(), scratch.data(), probabilities.data(),
                   before.data());
  // Changes the input at the last position of the first sequence. Only the
  // output at this position may change.
  for (int64_t j = 0; j < 3 * kShape.width; ++j) {
    qkv[(kShape.time - 1) * 3 * kShape.width + j] += 1;
  }
  AttentionForward(kShape, qkv.data(), scratch.data(), probabilities.data(),
                   after.data());
  for (int64_t i = 0; i < kShape.batch * kShape.time; ++i) {
    for (int64_t j = 0; j < kShape.width; ++j) {
      const bool same =
          before[i * kShape.width + j] == after[i * kShape.width + j];
      EXPECT_EQ(same, i != kShape.time - 1) << i << ", " << j;
    }
  }
}

TEST(AttentionTest, ProbabilitiesOfAPositionAddUpToOne) {
  const std::vector<double> qkv =
      Numbers(kShape.batch * kShape.time * 3 * kShape.width, 1);
  std::vector<double> scratch(AttentionScratchCount(kShape));
  std::vector<double> probabilities(ProbabilitiesCount(kShape));
  std::vector<double> output(kShape.batch * kShape.time * kShape.width);
  AttentionForward(kShape, qkv.data(), scratch.data(), probabilities.data(),
                   output.data());
  for (int64_t row = 0; row < ProbabilitiesCount(kShape) / kShape.time; ++row) {
    double sum = 0;
    for (int64_t j = 0; j < kShape.time; ++j) {
      const double p = probabilities[row * kShape.time + j];
      sum += p;
      EXPECT_EQ(p == 0, j > row % kShape.time);
    }
    // The probabilities of a row are divided by their sum, so they add up to 1
    // except for rounding.
    EXPECT_NEAR(sum, 1, RoundingBound<double>(kShape.time + 2, 1));
  }
}

}  // namespace
}  // namespace muster::models
