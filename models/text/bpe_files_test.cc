#include "models/text/bpe_files.h"

#include <cstdio>
#include <fstream>
#include <set>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/text/testing/small_bpe.h"

namespace muster::models {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Refusal(const std::string& json, const std::string& merges) {
  const auto vocabulary = ParseBpe(json, merges);
  EXPECT_FALSE(vocabulary.ok());
  return std::string(vocabulary.status().message());
}

std::string Instead(const char* old, const char* fresh) {
  return absl::StrReplaceAll(SmallVocabularyJson(), {{old, fresh}});
}

TEST(BpeFilesTest, MergesNeedNoVersionAndNoLastNewline) {
  const auto sound = ParseBpe(SmallVocabularyJson(), SmallMergesText());
  ASSERT_TRUE(sound.ok()) << sound.status();
  for (const char* merges : {"h e\nl l\nhe ll\nhell o\nĠ w\nĠw o",
                             "h e\r\nl l\r\nhe ll\r\nhell o"
                             "\r\nĠ w\r\nĠw o\r\n\n"}) {
    const auto other = ParseBpe(SmallVocabularyJson(), merges);
    ASSERT_TRUE(other.ok()) << other.status();
    EXPECT_EQ((*other)->Serialize(), (*sound)->Serialize());
  }
}

TEST(BpeFilesTest, InvalidVocabularyIsRefusedWithItsPosition) {
  EXPECT_THAT(Refusal("", ""), HasSubstr("vocabulary: parse error at line 1"));
  EXPECT_THAT(Refusal("{\n\"a\": 1,\n\"b\" 2}", ""), HasSubstr("line 3"));
  EXPECT_THAT(Refusal("[1]", ""), HasSubstr("the file is an array"));
  EXPECT_THAT(Refusal("3", ""), HasSubstr("the file is a number"));
  EXPECT_THAT(Refusal("{\"a\": {}}", ""),
              HasSubstr("token 'a' is an object; wanted is its number"));
  EXPECT_THAT(Refusal("{\"a\": -1}", ""), HasSubstr("has the number -1"));
  EXPECT_THAT(Refusal("{\"a\": 1.5}", ""), HasSubstr("has the number 1.5"));
  EXPECT_THAT(Refusal("{\"a\": 1048576}", ""), HasSubstr("below 1048576"));
  EXPECT_THAT(Refusal("{\"a\": 1, \"a\": 2}", ""),
              HasSubstr("token 'a' is there twice"));
  EXPECT_THAT(Refusal("{\"\xff\": 1}", ""), HasSubstr("UTF-8"));
  EXPECT_THAT(Refusal("{\"a\": 0}", ""),
              HasSubstr("no token 'Ā', which stands for byte 0"));
}

TEST(BpeFilesTest, EveryNumberHasAToken) {
  EXPECT_THAT(Refusal(Instead(": 259", ": 258"), SmallMergesText()),
              HasSubstr("of 263 tokens none has the number 25"));
  EXPECT_THAT(Refusal(Instead(": 259", ": 1000"), SmallMergesText()),
              HasSubstr("none has the number 259"));
  EXPECT_THAT(Refusal(Instead("\"hello\"", "\"\""), SmallMergesText()),
              HasSubstr("none has the number 259"));
}

TEST(BpeFilesTest, InvalidMergeIsRefusedWithItsLine) {
  const auto refusal = [](const char* merges) {
    return Refusal(SmallVocabularyJson(), merges);
  };
  EXPECT_THAT(refusal("#version: 0.2\nh e\nl\n"),
              StartsWith("merges: line 3: wanted are two tokens"));
  EXPECT_THAT(refusal("h e l"), StartsWith("merges: line 1: wanted are two"));
  EXPECT_THAT(refusal(" e"), HasSubstr("line 1"));
  EXPECT_THAT(refusal("h "), HasSubstr("line 1"));
  EXPECT_THAT(refusal("h e\n\nl l\n"), HasSubstr("line 2"));
  EXPECT_THAT(refusal("h e\nl o\n"),
              HasSubstr("line 2: 'lo' is not in the vocabulary"));
  EXPECT_THAT(refusal("h e\nq界 o\n"),
              HasSubstr("line 2: 'q界' is not in the vocabulary"));
  EXPECT_THAT(refusal("h e\nl l\nh e\n"),
              HasSubstr("line 3: the same as line 1"));
}

TEST(BpeFilesTest, FilesAreNamed) {
  const std::string folder = testing::TempDir();
  const std::string json = folder + "/vocab.json";
  const std::string merges = folder + "/merges.txt";
  std::remove(json.c_str());
  EXPECT_THAT(std::string(ReadBpeFiles(json, merges).status().message()),
              HasSubstr("cannot read '" + json + "': No such file"));
  std::ofstream(json) << SmallVocabularyJson();
  std::ofstream(merges) << SmallMergesText();
  EXPECT_TRUE(ReadBpeFiles(json, merges).ok());
  std::ofstream(merges) << "h e\nx";
  EXPECT_THAT(std::string(ReadBpeFiles(json, merges).status().message()),
              StartsWith(merges + ": line 2: "));
}

TEST(ByteCharactersTest, AreGpt2s) {
  EXPECT_EQ(CharacterOfByte('a'), "a");
  EXPECT_EQ(CharacterOfByte(' '), "Ġ");
  EXPECT_EQ(CharacterOfByte('\n'), "Ċ");
  EXPECT_EQ(CharacterOfByte(0), "Ā");
  EXPECT_EQ(CharacterOfByte(0x7f), "ġ");
  EXPECT_EQ(CharacterOfByte(0xad), "Ń");
  EXPECT_EQ(CharacterOfByte(0xff), "ÿ");
}

TEST(ByteCharactersTest, SpellEveryByte) {
  std::set<std::string> seen;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string character =
        CharacterOfByte(static_cast<unsigned char>(byte));
    EXPECT_TRUE(seen.insert(character).second);
    EXPECT_EQ(BytesOfCharacters(character),
              std::string(1, static_cast<char>(byte)));
  }
}

TEST(ByteCharactersTest, OtherCharactersSpellNoByte) {
  EXPECT_EQ(BytesOfCharacters("Ġthe"), " the");
  EXPECT_EQ(BytesOfCharacters(""), "");
  EXPECT_EQ(BytesOfCharacters("a b"), std::nullopt);
  EXPECT_EQ(BytesOfCharacters("界"), std::nullopt);
  EXPECT_EQ(BytesOfCharacters("\xc3"), std::nullopt);
  // "ń" follows the last of the characters by which GPT-2 represents bytes, so
  // it represents no byte.
  EXPECT_EQ(BytesOfCharacters("ń"), std::nullopt);
}

}  // namespace
}  // namespace muster::models
