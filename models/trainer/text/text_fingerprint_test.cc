#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/text/vocabulary.h"
#include "models/trainer/text/gpt_text.h"

namespace muster::models {
namespace {

using ::testing::MatchesRegex;

constexpr int64_t kAll = 4 << 20;

// Tokens in memory that count how many tokens are read.
class CountedTokens : public TokensInMemory {
 public:
  using TokensInMemory::TokensInMemory;
  absl::Status Read(int64_t begin, std::span<int32_t> out) const override {
    read_ += static_cast<int64_t>(out.size());
    return TokensInMemory::Read(begin, out);
  }
  int64_t read() const { return read_; }

 private:
  mutable int64_t read_ = 0;
};

std::string Of(std::vector<int32_t> tokens,
               const std::string& characters = "ab") {
  const auto fingerprint =
      TextFingerprint({std::make_shared<CharVocabulary>(characters),
                       std::make_shared<TokensInMemory>(std::move(tokens))});
  EXPECT_TRUE(fingerprint.ok()) << fingerprint.status();
  return fingerprint.ok() ? *fingerprint : "";
}

std::vector<int32_t> Zeros(int64_t count) {
  return std::vector<int32_t>(static_cast<size_t>(count));
}

std::string WithAOneAt(int64_t at, int64_t count) {
  std::vector<int32_t> tokens = Zeros(count);
  tokens[static_cast<size_t>(at)] = 1;
  return Of(std::move(tokens));
}

TEST(TextFingerprintTest, IsTheNumberOfTokensAndAHash) {
  EXPECT_THAT(Of({0, 1, 1}), MatchesRegex("3 tokens \\([0-9a-f]{16}\\)"));
  EXPECT_EQ(Of({0, 1, 1}), Of({0, 1, 1}));
  EXPECT_NE(Of({0, 1, 1}), Of({0, 1, 0}));
  // The fingerprint depends on the vocabulary, too, not only on the tokens'
  // numbers.
  EXPECT_NE(Of({0, 1, 1}), Of({0, 1, 1}, "xy"));
  EXPECT_EQ(Of({}), Of({}));
}

// A text of at most kAll tokens is hashed as a whole, so a change of any token
// must change its fingerprint. Tests the first and the last token, and nine
// tokens between them.
TEST(TextFingerprintTest, EveryTokenOfAShorterTextCounts) {
  for (const int64_t count :
       {int64_t{1}, int64_t{16 << 10}, int64_t{(16 << 10) + 1},
        int64_t{100'000}, kAll}) {
    const std::string zeros = Of(Zeros(count));
    for (int64_t i = 0; i <= 10; ++i) {
      const int64_t at = (count - 1) * i / 10;
      EXPECT_NE(WithAOneAt(at, count), zeros) << at << " of " << count;
    }
  }
}

TEST(TextFingerprintTest, OfALongerTextTheEndsDoAndTheSize) {
  const int64_t count = kAll * 3 / 2;
  const std::string zeros = Of(Zeros(count));
  EXPECT_NE(WithAOneAt(0, count), zeros);
  EXPECT_NE(WithAOneAt(count - 1, count), zeros);
  EXPECT_NE(Of(Zeros(count + 1)), zeros);
}

TEST(TextFingerprintTest, ReadsNoMoreOfALongerText) {
  const auto tokens = std::make_shared<CountedTokens>(Zeros(kAll * 3 / 2));
  const auto fingerprint =
      TextFingerprint({std::make_shared<CharVocabulary>("ab"), tokens});
  ASSERT_TRUE(fingerprint.ok()) << fingerprint.status();
  EXPECT_EQ(tokens->read(), kAll);
}

}  // namespace
}  // namespace muster::models
