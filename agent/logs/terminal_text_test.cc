#include "agent/logs/terminal_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::agent {
namespace {

TEST(WithoutControlsTest, DropsEscapesAndControlsButNotTabs) {
  struct {
    std::string_view text;
    const char* clean;
  } const kCases[] = {
      {"plain text", "plain text"},
      {"a\tb", "a\tb"},
      {"a\x07"
       "b\x08"
       "c\x7f",
       "abc"},
      {std::string_view("nul\0byte", 8), "nulbyte"},
      {"\x1b[31mred\x1b[0m", "red"},
      {"\x1b[2K\x1b[1Aup", "up"},
      {"\x1b]0;title\x07"
       "after",
       "after"},
      {"\x1b]8;;http://x\x1b\\link", "link"},
      {"\x1b(Bcharset", "charset"},
      {"\x1b"
       "7saved",
       "saved"},
      {"unfinished \x1b[12", "unfinished [12"},
      {"unfinished \x1b]0;text", "unfinished ]0;text"},
      {"end \x1b", "end "},
      {"C1 \xc2\x9b"
       "31m",
       "C1 31m"},
      {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(WithoutControls(c.text, Colours::kDrop), c.clean);
  }
}

TEST(WithoutControlsTest, TheRestOfARemovedControlMakesNoOther) {
  const auto plain = [](std::string_view text) {
    return WithoutControls(text, Colours::kDrop);
  };
  EXPECT_EQ(plain("a\xc2\x07\x9b"
                  "2J"),
            "a2J");
  EXPECT_EQ(plain("a\xc2\x1b[0m\x9b"
                  "2J"),
            "a2J");
  EXPECT_EQ(plain("a\xc2\xc2\x07\x9b\x9b"
                  "2J"),
            "a2J");
  EXPECT_EQ(plain("a\xc2\xa0"), "a\xc2\xa0");
}

TEST(WithoutControlsTest, KeptColoursEndWithTheLine) {
  EXPECT_EQ(WithoutControls("\x1b[31mred", Colours::kKeep),
            "\x1b[31mred\x1b[0m");
  EXPECT_EQ(WithoutControls("\x1b[31mred\x1b[0m", Colours::kKeep),
            "\x1b[31mred\x1b[0m");
  EXPECT_EQ(WithoutControls("\x1b[31mred\x1b[m", Colours::kKeep),
            "\x1b[31mred\x1b[m");
  EXPECT_EQ(WithoutControls("\x1b[1Aup", Colours::kKeep), "up");
}

TEST(ValidUtf8Test, ReplacesWhatIsNotACharacter) {
  const std::string kBad = "\xef\xbf\xbd";
  EXPECT_EQ(ValidUtf8("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x99\x82"),
            "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x99\x82");
  EXPECT_EQ(ValidUtf8("a\xff"
                      "b"),
            "a" + kBad + "b");
  EXPECT_EQ(ValidUtf8("cut \xe2\x82"), "cut " + kBad + kBad);
  EXPECT_EQ(ValidUtf8("\xc0\xaf"), kBad + kBad);  // overlong encoding of "/"
  // overlong encoding of "/"
  EXPECT_EQ(ValidUtf8("\xe0\x80\xaf"), kBad + kBad + kBad);
  // a surrogate, which UTF-8 must not contain
  EXPECT_EQ(ValidUtf8("\xed\xa0\x80"), kBad + kBad + kBad);
  // a number beyond Unicode's last character
  EXPECT_EQ(ValidUtf8("\xf4\x90\x80\x80"), kBad + kBad + kBad + kBad);
  EXPECT_EQ(ValidUtf8("\x80"), kBad);
}

TEST(WholeCharactersTest, DropsOnlyAnUnfinishedCharacterAtTheEnd) {
  EXPECT_EQ(WholeCharacters("abc"), "abc");
  EXPECT_EQ(WholeCharacters("ab\xc3"), "ab");
  EXPECT_EQ(WholeCharacters("ab\xc3\xbc"), "ab\xc3\xbc");
  EXPECT_EQ(WholeCharacters("a\xf0\x9f\x99"), "a");
  EXPECT_EQ(WholeCharacters("a\xf0\x9f\x99\x82"), "a\xf0\x9f\x99\x82");
  EXPECT_EQ(WholeCharacters("a\x80\x80\x80\x80"), "a\x80\x80\x80\x80");
  EXPECT_EQ(WholeCharacters(""), "");
}

TEST(FormatCharacters, AreShownByTheirNumber) {
  EXPECT_EQ(WithVisibleFormats("a\u202Eb\u202Cc"), "a<U+202E>b<U+202C>c");
  EXPECT_EQ(WithVisibleFormats("\uFEFF\u200B\u2066\u2069\u2028\u00AD"),
            "<U+FEFF><U+200B><U+2066><U+2069><U+2028><U+00AD>");
  EXPECT_EQ(WithVisibleFormats("\U000E0041"), "<U+E0041>");
}

TEST(FormatCharacters, OtherTextStaysAsItIs) {
  const char* const text = "plain \u00fc \u0645\u0631 \u6f22 \U0001F600";
  EXPECT_EQ(WithVisibleFormats(text), text);
  EXPECT_EQ(WithVisibleFormats(""), "");
}

TEST(ForTerminalTest, ControlsGoAndLineEndsStay) {
  EXPECT_EQ(ForTerminal("a\x1b[2Jb\r\nc\u202Ed\xff\n"),
            "ab\nc<U+202E>d\xef\xbf\xbd\n");
}

using ::testing::EndsWith;
using ::testing::StartsWith;

TEST(BoundedLine, IsTheFirstThatIsNotBlank) {
  EXPECT_EQ(BoundedLine("one\ntwo", 100), "one");
  EXPECT_EQ(BoundedLine("\n \t\r\n  two \r\nthree", 100), "two");
  EXPECT_EQ(BoundedLine("", 100), "");
  EXPECT_EQ(BoundedLine("\n\n", 100), "");
}

TEST(BoundedLine, IsCutBetweenCharacters) {
  EXPECT_EQ(BoundedLine("0123456789", 10), "0123456789");
  EXPECT_EQ(BoundedLine("0123456789a", 10), "0123456...");
  EXPECT_EQ(BoundedLine("012345\xc3\xbc\xc3\xbc\xc3\xbc", 10), "012345...");
  EXPECT_EQ(BoundedLine("01234\xc3\xbc\xc3\xbc\xc3\xbc", 10),
            "01234\xc3\xbc...");
}

TEST(BoundedLine, HoldsNothingThatMovesATerminal) {
  EXPECT_EQ(BoundedLine("a\x1b[31mb\x1b[0m\x07", 100), "ab");
  EXPECT_EQ(BoundedLine("bad \xff byte", 100), "bad \xef\xbf\xbd byte");
}

TEST(BoundedTail, KeepsWhatFits) {
  EXPECT_EQ(BoundedTail("one\n  two\n\nthree\n\n", 100), "one\n  two\n\nthree");
  EXPECT_EQ(BoundedTail("", 100), "");
}

TEST(BoundedTail, KeepsTheLastLinesAndSaysThatThereWereMore) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "line " + std::to_string(i) + "\n";
  const std::string tail = BoundedTail(text, 100);
  EXPECT_LE(tail.size(), 100u);
  EXPECT_GE(tail.size(), 85u);
  EXPECT_THAT(tail, StartsWith("...\nline "));
  EXPECT_THAT(tail, EndsWith("line 998\nline 999"));
}

TEST(BoundedTail, IsBoundedWhateverTheLinesAre) {
  for (const std::string line : {"x", "", "\xc3\xbc", "\n\n\n", "\xff"}) {
    std::string text;
    for (int i = 0; i < 5000; ++i) text += line;
    EXPECT_LE(BoundedTail(text, 4096).size(), 4096u) << line;
    EXPECT_LE(BoundedTail(text.append("\n").append(text), 64).size(), 64u)
        << line;
  }
}

TEST(BoundedIndentedLineTest, KeepsTheIndentationWithinBounds) {
  EXPECT_EQ(BoundedIndentedLine("    at x", 80), "    at x");
  EXPECT_EQ(BoundedIndentedLine("   \x1b[31m ", 80), "   ");
  EXPECT_EQ(BoundedIndentedLine("     ", 80), "");
  const std::string deep = std::string(100, ' ') + "x";
  EXPECT_EQ(BoundedIndentedLine(deep, 40), std::string(10, ' ') + "x");
}

}  // namespace
}  // namespace muster::agent
