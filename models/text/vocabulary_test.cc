#include "models/text/vocabulary.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::models {
namespace {

TEST(CharVocabularyTest, BytesAreNumberedInTheirOrder) {
  const CharVocabulary vocabulary("hello\n");
  EXPECT_EQ(vocabulary.bytes(), "\nehlo");
  const auto tokens = vocabulary.Encode("hole\n");
  ASSERT_TRUE(tokens.ok());
  EXPECT_THAT(*tokens, testing::ElementsAre(2, 4, 3, 1, 0));
  EXPECT_EQ(vocabulary.Decode(*tokens), "hole\n");
}

TEST(CharVocabularyTest, AnyByteIsAByte) {
  std::string all;
  for (int byte = 255; byte >= 0; --byte) {
    all.push_back(static_cast<char>(byte));
  }
  const CharVocabulary vocabulary(all);
  EXPECT_EQ(vocabulary.size(), 256);
  EXPECT_EQ(vocabulary.Decode(*vocabulary.Encode(all)), all);
}

TEST(CharVocabularyTest, UnknownByteIsRefusedWithItsPosition) {
  const auto tokens = CharVocabulary("abc").Encode("abzc");
  EXPECT_THAT(std::string(tokens.status().message()),
              testing::HasSubstr("byte 122 at position 2"));
}

TEST(CharVocabularyTest, OfNothingIsEmpty) {
  EXPECT_EQ(CharVocabulary("").size(), 0);
}

}  // namespace
}  // namespace muster::models
