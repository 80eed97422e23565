#include <vector>

#include "gtest/gtest.h"
#include "models/kernels/finite_difference.h"
#include "models/kernels/layers.h"

namespace muster::models {
namespace {

TEST(EmbeddingTest, GradientsAreThoseOfDifferences) {
  constexpr int64_t kBatch = 2;
  constexpr int64_t kTime = 3;
  constexpr int64_t kWidth = 4;
  // The largest number of roundings in one result: two for an element of the
  // output, and one for each element that the loss sums up.
  constexpr int kOperations = 2 + kBatch * kTime * kWidth;
  const std::vector<int32_t> tokens = {4, 0, 4, 2, 4, 1};  // token 3 is unused
  std::vector<double> table = Numbers(5 * kWidth, 1);
  std::vector<double> positions = Numbers(kTime * kWidth, 2);
  const std::vector<double> upstream = Numbers(kBatch * kTime * kWidth, 3);
  const auto loss = [&] {
    std::vector<double> output(upstream.size());
    EmbeddingForward(tokens.data(), table.data(), positions.data(), kBatch,
                     kTime, kWidth, output.data());
    return Dot(output, upstream);
  };
  std::vector<double> table_gradient(table.size());
  std::vector<double> position_gradient(positions.size());
  EmbeddingBackward(tokens.data(), upstream.data(), kBatch, kTime, kWidth,
                    table_gradient.data(), position_gradient.data());
  ExpectGradient(table, table_gradient, kOperations, loss);
  ExpectGradient(positions, position_gradient, kOperations, loss);
}

}  // namespace
}  // namespace muster::models
