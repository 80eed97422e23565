#include "models/trainer/text/gpt_batches.h"

#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace muster::models {
namespace {

// A text in which each token equals its position.
std::shared_ptr<const Tokens> Places(int count) {
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  std::iota(tokens.begin(), tokens.end(), 0);
  return std::make_shared<TokensInMemory>(std::move(tokens));
}

TEST(GptBatchesTest, TargetsAreTheNextTokens) {
  const GptBatches batches(Places(200), 7, 3, 8);
  const GptMicroBatch drawn = *batches.Training(5, 1);
  ASSERT_EQ(drawn.tokens.size(), 24u);
  for (size_t i = 0; i < drawn.tokens.size(); ++i) {
    EXPECT_EQ(drawn.targets[i], drawn.tokens[i] + 1);
    if (i % 8 != 0) {
      EXPECT_EQ(drawn.tokens[i], drawn.tokens[i - 1] + 1);
    }
  }
}

TEST(GptBatchesTest, TheLastTenthIsForValidationAlone) {
  const GptBatches batches(Places(200), 7, 3, 8);
  for (int64_t i = 0; i < 200; ++i) {
    const absl::StatusOr<GptMicroBatch> training = batches.Training(i, 0);
    for (const int32_t token : training->targets) {
      EXPECT_LT(token, 180);
    }
    const absl::StatusOr<GptMicroBatch> validation = batches.Validation(i);
    for (const int32_t token : validation->tokens) {
      EXPECT_GE(token, 180);
    }
  }
}

TEST(GptBatchesTest, StepAndMicroBatchChooseTheWindows) {
  const GptBatches batches(Places(2000), 7, 3, 8);
  const GptBatches again(Places(2000), 7, 3, 8);
  EXPECT_EQ(batches.Training(1, 0)->tokens, again.Training(1, 0)->tokens);
  EXPECT_NE(batches.Training(1, 0)->tokens, batches.Training(1, 1)->tokens);
  EXPECT_NE(batches.Training(1, 0)->tokens, batches.Training(2, 0)->tokens);
  EXPECT_EQ(batches.Validation(3)->tokens, again.Validation(3)->tokens);
}

TEST(GptBatchesTest, BothPartsNeedAWindow) {
  EXPECT_TRUE(GptBatches(Places(90), 7, 1, 8).Check().ok());
  const absl::Status wrong = GptBatches(Places(80), 7, 1, 8).Check();
  EXPECT_EQ(wrong.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(wrong.message().find("a text of 80 tokens"),
            absl::string_view::npos);
}

}  // namespace
}  // namespace muster::models
