#include "models/text/byte_characters.h"

#include <set>

#include "gtest/gtest.h"

namespace muster::models {
namespace {

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

TEST(ByteCharactersTest, OthersSpellNothing) {
  EXPECT_EQ(BytesOfCharacters("Ġthe"), " the");
  EXPECT_EQ(BytesOfCharacters(""), "");
  EXPECT_EQ(BytesOfCharacters("a b"), std::nullopt);
  EXPECT_EQ(BytesOfCharacters("界"), std::nullopt);
  EXPECT_EQ(BytesOfCharacters("\xc3"), std::nullopt);
  // The first character after the substitutes.
  EXPECT_EQ(BytesOfCharacters("ń"), std::nullopt);
}

}  // namespace
}  // namespace muster::models
