#include "models/trainer/text/gpt_batches.h"

#include <chrono>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/monotonic_clock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/rank_time/rank_time.h"

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

// Tokens whose reads take at least `kRead`, as those of a slow disk do.
class SlowTokens : public TokensInMemory {
 public:
  static constexpr std::chrono::milliseconds kRead{2};

  SlowTokens() : TokensInMemory(std::vector<int32_t>(200)) {}
  absl::Status Read(int64_t begin, std::span<int32_t> out) const override {
    const Instant end = MonotonicNow() + kRead;
    while (MonotonicNow() < end) {
    }
    return TokensInMemory::Read(begin, out);
  }
};

TEST(GptBatchesTest, TheTimeOfTheReadsIsAWaitForData) {
  const GptBatches batches(std::make_shared<SlowTokens>(), 7, 3, 8);
  // RankTime measures from the first collective on.
  RankTime& time = RankTime::Process();
  time.Enter(MonotonicNow());
  time.Exit(MonotonicNow());
  ASSERT_TRUE(batches.Training(5, 1).ok());
  const RankTimes times = *time.Read(MonotonicNow());
  EXPECT_GE(times.data, 3 * SlowTokens::kRead);
  EXPECT_LE(times.data, times.own);
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
