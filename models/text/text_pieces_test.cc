#include "models/text/text_pieces.h"

#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::models {
namespace {

using ::testing::ElementsAre;
using Pieces = std::vector<std::string>;

Pieces PiecesOf(std::string_view text) {
  Pieces pieces;
  while (!text.empty()) pieces.emplace_back(TakePiece(&text));
  return pieces;
}

TEST(TextPiecesTest, WordsTakeTheSpaceBeforeThem) {
  EXPECT_THAT(PiecesOf("Hello world 42!"),
              ElementsAre("Hello", " world", " 42", "!"));
  EXPECT_THAT(PiecesOf("x2y --z"), ElementsAre("x", "2", "y", " --", "z"));
}

TEST(TextPiecesTest, ContractionsComeOff) {
  EXPECT_THAT(PiecesOf("I'm you're"), ElementsAre("I", "'m", " you", "'re"));
  EXPECT_THAT(PiecesOf("'ve'll'd's't"),
              ElementsAre("'ve", "'ll", "'d", "'s", "'t"));
  // A contraction is not recognised in capitals, after a space, or among other
  // punctuation.
  EXPECT_THAT(PiecesOf("I'M"), ElementsAre("I", "'", "M"));
  EXPECT_THAT(PiecesOf(" 's"), ElementsAre(" '", "s"));
  EXPECT_THAT(PiecesOf("!'s"), ElementsAre("!'", "s"));
  EXPECT_THAT(PiecesOf("'"), ElementsAre("'"));
  EXPECT_THAT(PiecesOf("'r"), ElementsAre("'", "r"));
  EXPECT_THAT(PiecesOf("'lx"), ElementsAre("'", "lx"));
}

TEST(TextPiecesTest, RunsOfSpaceLeaveTheirLastToWhatFollows) {
  EXPECT_THAT(PiecesOf("a   b"), ElementsAre("a", "  ", " b"));
  EXPECT_THAT(PiecesOf("a\n\n\nb"), ElementsAre("a", "\n\n", "\n", "b"));
  EXPECT_THAT(PiecesOf("a \nb"), ElementsAre("a", " ", "\n", "b"));
  EXPECT_THAT(PiecesOf("\tb"), ElementsAre("\t", "b"));
}

TEST(TextPiecesTest, AtTheEndARunIsWhole) {
  EXPECT_THAT(PiecesOf("a "), ElementsAre("a", " "));
  EXPECT_THAT(PiecesOf("a \n "), ElementsAre("a", " \n "));
  EXPECT_THAT(PiecesOf(" "), ElementsAre(" "));
}

TEST(TextPiecesTest, LettersNumbersAndSpacesAreUnicodes) {
  EXPECT_THAT(PiecesOf("na\u00efve \u4f60\u597d \u0663\u00bd"),
              ElementsAre("na\u00efve", " \u4f60\u597d", " \u0663\u00bd"));
  EXPECT_THAT(PiecesOf("a\u3000\u00a0b"),
              ElementsAre("a", "\u3000", "\u00a0", "b"));
  EXPECT_THAT(PiecesOf("a\u0085"), ElementsAre("a", "\u0085"));
  // A combining mark (U+0301) is not a letter.
  EXPECT_THAT(PiecesOf("e\u0301x"), ElementsAre("e", "\u0301", "x"));
  EXPECT_THAT(PiecesOf("\U0001f600\U0001f3fd!"),
              ElementsAre("\U0001f600\U0001f3fd!"));
  // Neither U+001C nor U+180E has Unicode's property White_Space. (Python
  // counts U+001C as white space; older versions of Unicode counted U+180E as
  // white space.)
  EXPECT_THAT(PiecesOf("\x1c\u180e."), ElementsAre("\x1c\u180e."));
}

TEST(TextPiecesTest, BytesThatAreNoUtf8AreOthers) {
  EXPECT_THAT(PiecesOf("a\xff\xfe.b"), ElementsAre("a", "\xff\xfe.", "b"));
  EXPECT_THAT(PiecesOf("a \x80"), ElementsAre("a", " \x80"));
  // Bytes of invalid UTF-8 are neither letters, numbers nor white space.
  // Tested: a truncated character, an overlong encoding, and half of a
  // surrogate pair.
  EXPECT_THAT(PiecesOf("a\xe4\xbd"), ElementsAre("a", "\xe4\xbd"));
  EXPECT_THAT(PiecesOf("\xc0\xa0 x"), ElementsAre("\xc0\xa0", " x"));
  EXPECT_THAT(PiecesOf("\xed\xa0\x80x"), ElementsAre("\xed\xa0\x80", "x"));
}

TEST(WholePiecesTest, CutsBeforeTheLastSpaceThatFits) {
  EXPECT_EQ(WholePieces("one two three", 20), 13u);
  EXPECT_EQ(WholePieces("one two three", 12), 7u);
  EXPECT_EQ(WholePieces("one two three", 7), 7u);
  EXPECT_EQ(WholePieces("one two three", 6), 3u);
  EXPECT_EQ(WholePieces("one two three", 2), 0u);
  EXPECT_EQ(WholePieces("one  two", 4), 3u);
  EXPECT_EQ(WholePieces("", 4), 0u);
}

TEST(WholePiecesTest, PartsAreCutAsTheWhole) {
  const Pieces samples = {"a",      "1",      " ",  "\n",     ".",    "'s",
                          "\u4f60", "\u3000", "\t", "\u0301", "\xff", "\xe3"};
  std::mt19937 draw(1);
  int cut = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i) text += samples[draw() % samples.size()];
    const size_t length = WholePieces(text, draw() % text.size());
    Pieces parts = PiecesOf(std::string_view(text).substr(0, length));
    for (const std::string& piece :
         PiecesOf(std::string_view(text).substr(length))) {
      parts.push_back(piece);
    }
    ASSERT_EQ(parts, PiecesOf(text)) << testing::PrintToString(text);
    cut += length > 0;
  }
  EXPECT_GT(cut, 1000);
}

}  // namespace
}  // namespace muster::models
