#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/text/vocabulary.h"
#include "models/trainer/text/gpt_text.h"

namespace muster::models {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

GptText TextOf(const std::string& characters) {
  const auto vocabulary = std::make_shared<CharVocabulary>(characters);
  return {vocabulary,
          std::make_shared<TokensInMemory>(*vocabulary->Encode(characters))};
}

TEST(TokensInVocabularyTest, ThoseThatItHasAreTaken) {
  const GptText text = TextOf("cab");
  const auto tokens = TokensInVocabulary(text, CharVocabulary("abc"));
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  EXPECT_EQ(*tokens, text.tokens);
}

TEST(TokensInVocabularyTest, ATextWithFewerCharactersHasTheModelsTokens) {
  const auto tokens = TokensInVocabulary(TextOf("dbd"), CharVocabulary("abcd"));
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  std::vector<int32_t> read(static_cast<size_t>((*tokens)->count()));
  ASSERT_TRUE((*tokens)->Read(0, read).ok());
  EXPECT_THAT(read, ElementsAre(3, 1, 3));
}

TEST(TokensInVocabularyTest, UnknownByteIsNamed) {
  const auto tokens = TokensInVocabulary(TextOf("abz"), CharVocabulary("abcd"));
  EXPECT_EQ(tokens.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(tokens.status().message()),
              HasSubstr("byte 122 at position 2"));
}

}  // namespace
}  // namespace muster::models
