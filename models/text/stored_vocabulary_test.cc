#include "models/text/stored_vocabulary.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/text/testing/small_bpe.h"
#include "models/text/vocabulary.h"

namespace muster::models {
namespace {

using ::testing::HasSubstr;

std::string Refusal(std::string_view bytes) {
  const auto vocabulary = ParseVocabulary(bytes);
  EXPECT_FALSE(vocabulary.ok());
  return std::string(vocabulary.status().message());
}

void ExpectSame(const Vocabulary& vocabulary, const std::string& text) {
  const auto again = ParseVocabulary(vocabulary.Serialize());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_STREQ((*again)->kind(), vocabulary.kind());
  EXPECT_EQ((*again)->size(), vocabulary.size());
  EXPECT_EQ((*again)->Describe(), vocabulary.Describe());
  EXPECT_EQ(*(*again)->Encode(text), *vocabulary.Encode(text));
}

TEST(StoredVocabularyTest, ComesBack) {
  ExpectSame(CharVocabulary("hello\n"), "hole\n");
  ExpectSame(*SmallBpe(), "hello \xff world");
}

TEST(StoredVocabularyTest, DescriptionsOfVocabulariesDiffer) {
  EXPECT_NE(CharVocabulary("abc").Describe(), CharVocabulary("abd").Describe());
}

TEST(StoredVocabularyTest, AnythingElseIsRefused) {
  EXPECT_THAT(Refusal(""), HasSubstr("no vocabulary"));
  EXPECT_THAT(Refusal("muster characters\n"), HasSubstr("none"));
  EXPECT_THAT(Refusal("muster characters\nba"), HasSubstr("not in order"));
  EXPECT_THAT(Refusal("muster characters\naa"), HasSubstr("not in order"));
  const std::string bpe = SmallBpe()->Serialize();
  EXPECT_THAT(Refusal(bpe + "x"), HasSubstr("behind the vocabulary"));
  for (size_t length = 0; length < bpe.size(); length += 7) {
    EXPECT_FALSE(ParseVocabulary(bpe.substr(0, length)).ok()) << length;
  }
  // Counts that exceed the text's size must not cause a large allocation.
  EXPECT_THAT(Refusal("muster bpe\n" + std::string(8, '\xff')),
              HasSubstr("cut short"));
}

}  // namespace
}  // namespace muster::models
