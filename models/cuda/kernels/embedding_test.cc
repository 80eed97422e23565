#include "models/cuda/kernels/kernels.h"
#include "models/cuda/kernels/token_rows.h"
#include "models/kernels/layers.h"
#include "trainer_sdk/cuda/testing/kernel_case.h"

namespace muster::models::cuda {
namespace {

template <typename Case>
class CudaEmbeddingTest : public KernelTest<Case> {};

TYPED_TEST_SUITE(CudaEmbeddingTest, KernelCases);

TYPED_TEST(CudaEmbeddingTest, AsOnTheCpu) {
  // The width exceeds the number of threads in a block (128), so the kernels
  // use two blocks for each row.
  constexpr EmbeddingShape kShape = {.batch = 2, .time = 3, .width = 131};
  constexpr int64_t kVocabulary = 5;
  constexpr int64_t kContext = 4;
  const std::vector<int32_t> tokens = {4, 0, 4, 1, 4, 0};
  const auto table = this->Numbers(kVocabulary * kShape.width, 1);
  const auto positions = this->Numbers(kContext * kShape.width, 2);
  std::vector<float> expected(tokens.size() * size_t(kShape.width));
  muster::models::EmbeddingForward(tokens.data(), table.data(),
                                   positions.data(), kShape.batch, kShape.time,
                                   kShape.width, expected.data());
  const auto own_table = this->Narrowed(table);
  const auto own_positions = this->Narrowed(positions);
  std::vector<typename TestFixture::Element> output(expected.size());
  EmbeddingForward(kShape, tokens.data(), own_table.data(),
                   own_positions.data(), output.data(), nullptr);
  // Kernel and reference both add two numbers in float32 and round the sum to
  // the kernel's type. So the results must be equal bit for bit.
  EXPECT_EQ(this->Widened(output), this->Widened(this->Narrowed(expected)));

  const auto gradient = this->Numbers(static_cast<int64_t>(expected.size()), 3);
  const auto table_before = this->Numbers(kVocabulary * kShape.width, 4);
  const auto positions_before = this->Numbers(kContext * kShape.width, 5);
  auto table_gradient = table_before;
  auto position_gradient = positions_before;
  const auto own_gradient = this->Narrowed(gradient);
  const TokenRows rows = RowsOfTokens(tokens);
  EmbeddingBackward(kShape,
                    {.count = static_cast<int64_t>(rows.tokens.size()),
                     .tokens = rows.tokens.data(),
                     .begins = rows.begins.data(),
                     .rows = rows.rows.data()},
                    own_gradient.data(), table_gradient.data(),
                    position_gradient.data(), nullptr);
  // Bound of the number of successive additions: a token that occurs three
  // times has the most, 4. The GPU adds its three gradients to a sum that
  // begins with 0, and then adds this sum to the array.
  this->ExpectRounded(
      {{table_gradient}, {position_gradient}}, 4, [&](Disturbance disturb) {
        std::vector<double> upstream(gradient.begin(), gradient.end());
        disturb(upstream);
        std::vector<std::vector<double>> sums = {
            {table_before.begin(), table_before.end()},
            {positions_before.begin(), positions_before.end()}};
        muster::models::EmbeddingBackward(
            tokens.data(), upstream.data(), kShape.batch, kShape.time,
            kShape.width, sums[0].data(), sums[1].data());
        for (std::vector<double>& sum : sums) disturb(sum);
        return sums;
      });
}

TEST(TokenRowsTest, EachTokensRowsInOrder) {
  const TokenRows rows = RowsOfTokens({7, 2, 7, 9, 2, 7});
  EXPECT_EQ(rows.tokens, (std::vector<int32_t>{2, 7, 9}));
  EXPECT_EQ(rows.begins, (std::vector<int32_t>{0, 2, 5, 6}));
  EXPECT_EQ(rows.rows, (std::vector<int32_t>{1, 4, 0, 2, 5, 3}));
}

TEST(TokenRowsTest, OfNothing) {
  const TokenRows rows = RowsOfTokens({});
  EXPECT_TRUE(rows.tokens.empty());
  EXPECT_EQ(rows.begins, std::vector<int32_t>{0});
}

}  // namespace
}  // namespace muster::models::cuda
