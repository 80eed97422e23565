#include "models/text/bpe_vocabulary.h"

#include <random>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/text/testing/small_bpe.h"

namespace muster::models {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int32_t> Encoded(std::string_view text) {
  const auto tokens = SmallBpe()->Encode(text);
  EXPECT_TRUE(tokens.ok()) << tokens.status();
  return *tokens;
}

TEST(BpeVocabularyTest, MergesWithinPieces) {
  EXPECT_THAT(Encoded("hello world"), ElementsAre(259, 261, 'r', 'l', 'd'));
  // The space belongs to the second word, so it is not adjacent to "o".
  EXPECT_THAT(Encoded("he hello"), ElementsAre(256, ' ', 259));
  EXPECT_THAT(Encoded(""), ElementsAre());
}

TEST(BpeVocabularyTest, ASpecialTokensTextIsAText) {
  EXPECT_THAT(Encoded("<|e"), ElementsAre('<', '|', 'e'));
  const std::vector<int32_t> special = {262};
  EXPECT_EQ(SmallBpe()->Decode(special), "<|endoftext|>");
  EXPECT_EQ(Encoded("<|endoftext|>").size(), 13u);
}

TEST(BpeVocabularyTest, AnyBytesComeBack) {
  const auto vocabulary = SmallBpe();
  std::mt19937 draw(3);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int i = 0; i < 40; ++i) {
      text += draw() % 2 == 0 ? "hello \xe4\xbd"
                              : std::string(1, static_cast<char>(draw()));
    }
    EXPECT_EQ(vocabulary->Decode(*vocabulary->Encode(text)), text);
  }
}

// More distinct pieces than are cached, each of them twice.
TEST(BpeVocabularyTest, WhatIsRememberedIsBounded) {
  std::string text;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 70000; ++i) text += " " + std::to_string(i);
  }
  const auto vocabulary = SmallBpe();
  const auto tokens = vocabulary->Encode(text);
  ASSERT_TRUE(tokens.ok());
  EXPECT_EQ(vocabulary->Decode(*tokens), text);
  EXPECT_EQ(
      std::vector(tokens->begin(),
                  tokens->begin() + static_cast<ptrdiff_t>(tokens->size() / 2)),
      std::vector(tokens->begin() + static_cast<ptrdiff_t>(tokens->size() / 2),
                  tokens->end()));
}

TEST(BpeVocabularyTest, TellsWhatItIs) {
  const auto vocabulary = SmallBpe();
  EXPECT_EQ(vocabulary->size(), 263);
  EXPECT_THAT(vocabulary->Describe(), HasSubstr("bpe, 263 tokens ("));
}

std::string Refusal(BpeVocabulary::Parts parts) {
  return std::string(
      BpeVocabulary::Create(std::move(parts)).status().message());
}

TEST(BpeVocabularyTest, RefusesWhatIsNotSound) {
  const BpeVocabulary::Parts sound = SmallBpe()->parts();
  BpeVocabulary::Parts parts = sound;
  parts.bytes['x'] = 'y';
  EXPECT_THAT(Refusal(parts), HasSubstr("byte 120 has no token of its own"));
  parts.bytes['x'] = 263;
  EXPECT_THAT(Refusal(parts), HasSubstr("byte 120"));
  parts.bytes['x'] = -1;
  EXPECT_THAT(Refusal(parts), HasSubstr("byte 120"));

  parts = sound;
  parts.merges[1].merged = 256;
  EXPECT_THAT(Refusal(parts), HasSubstr("merge 2 makes 'he' of 'l' and 'l'"));
  parts.merges[1].merged = 263;
  EXPECT_THAT(Refusal(parts), HasSubstr("merge 2 names token 263 of 263"));
  parts.merges[1].merged = -1;
  EXPECT_THAT(Refusal(parts), HasSubstr("merge 2 names token -1"));

  parts = sound;
  parts.merges.push_back(parts.merges[2]);
  EXPECT_THAT(Refusal(parts), HasSubstr("merge 7 is the same as merge 3"));

  parts = sound;
  parts.tokens[262].clear();
  EXPECT_THAT(Refusal(parts), HasSubstr("token 262 has 0 bytes"));
  parts.tokens[262].resize(BpeVocabulary::kMaxTokenBytes + 1);
  EXPECT_THAT(Refusal(parts), HasSubstr("token 262 has 65537 bytes"));
}

TEST(BpeVocabularyDeathTest, TokensThatAreNoneEndTheProcess) {
  const std::vector<int32_t> tokens = {263};
  EXPECT_DEATH(SmallBpe()->Decode(tokens), "263 of 263");
}

}  // namespace
}  // namespace muster::models
