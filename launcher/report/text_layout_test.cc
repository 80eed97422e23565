#include "launcher/report/text_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PrintableLinesTest, SplitsLinesAndRemovesControlCharacters) {
  EXPECT_THAT(PrintableLines("\n\n  a\tb  \r\n\n\x1b[31mred\x1b[0m\n\n"),
              ElementsAre("  a    b", "", "red"));
  EXPECT_THAT(PrintableLines(" \n "), IsEmpty());
  EXPECT_THAT(PrintableLines("bad \xff"), ElementsAre("bad \xef\xbf\xbd"));
  EXPECT_EQ(PrintableLine("two\nlines"), "two lines");
}

TEST(PrintableLinesTest, FormatCharactersAreShown) {
  EXPECT_EQ(PrintableLine("a\u202Eb\u2066"), "a<U+202E>b<U+2066>");
}

TEST(WrapTest, BreaksAtBlanksAndIndentsTheRest) {
  EXPECT_THAT(Wrap("one two three four", 10, 2),
              ElementsAre("one two", "  three", "  four"));
  EXPECT_THAT(Wrap("  indented text here", 12, 2),
              ElementsAre("  indented", "    text", "    here"));
  EXPECT_THAT(Wrap("fits", 10, 2), ElementsAre("fits"));
  EXPECT_THAT(Wrap("", 10, 2), ElementsAre(""));
}

TEST(WrapTest, ALongWordStaysWhole) {
  std::string path(30, 'p');
  EXPECT_THAT(Wrap(path, 10, 2), ElementsAre(path));
  EXPECT_THAT(Wrap("in " + path + " at end", 12, 2),
              ElementsAre("in " + path, "  at end"));
}

TEST(WrapTest, CountsCharactersNotBytes) {
  EXPECT_THAT(Wrap("\xc3\xa4\xc3\xb6\xc3\xbc \xc3\xa4\xc3\xb6\xc3\xbc x", 9, 0),
              ElementsAre("\xc3\xa4\xc3\xb6\xc3\xbc \xc3\xa4\xc3\xb6\xc3\xbc "
                          "x"));
}

TEST(WrapTest, EndsForEveryWidth) {
  for (int columns = 0; columns < 40; ++columns) {
    for (int hang = 0; hang < 40; hang += 3) {
      std::string words;
      for (const std::string& piece :
           Wrap(std::string(columns, ' ') + "a b ccccccccccccccc d e ffffffff",
                columns, hang)) {
        for (char c : piece) words += c == ' ' ? "" : std::string(1, c);
      }
      EXPECT_EQ(words, "abcccccccccccccccdeffffffff");
    }
  }
}

TEST(ColumnsTest, WideCharactersTakeTwo) {
  EXPECT_EQ(Columns("loss"), 4);
  EXPECT_EQ(Columns("höhe…"), 5);
  EXPECT_EQ(Columns("损失"), 4);
  EXPECT_EQ(Columns("손실 1"), 6);
  EXPECT_EQ(Columns("ok 🚀"), 5);
  EXPECT_EQ(PadRight("损失", 6), "损失  ");
  EXPECT_EQ(Shorten("损失损失", 8), "损失损失");
  // A character of two columns is left out if only one column is free.
  EXPECT_EQ(Shorten("损失损失", 7), "损失...");
  EXPECT_EQ(Shorten("损失损失", 6), "损...");
}

TEST(ShortenTest, KeepsTheBeginningOrTheFileName) {
  EXPECT_EQ(Shorten("0123456789", 10), "0123456789");
  EXPECT_EQ(Shorten("0123456789", 8), "01234...");
  EXPECT_EQ(ProgramName("/a/b/train.py", 13), "/a/b/train.py");
  EXPECT_EQ(ProgramName("/a/b/train.py", 11), "train.py");
  EXPECT_EQ(ProgramName("/a/b/train.py", 7), "trai...");
  EXPECT_EQ(ProgramName("a.long.module", 9), "a.long...");
  EXPECT_EQ(Shorten("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f!", 4), "\xc3\xa4...");
}

TEST(AlignRowsTest, AlignsWithoutTrailingBlanks) {
  EXPECT_THAT(AlignRows({{"A", "LONG", "C"}, {"x\xc3\xa4y", "", ""}, {"1"}}),
              ElementsAre("A    LONG  C", "x\xc3\xa4y", "1"));
}

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(DurationTextTest, HasTheTwoUnitsThatFit) {
  struct {
    Duration duration;
    const char* text;
  } const kCases[] = {
      {Duration::zero(), "0.00s"},
      {milliseconds(40), "0.04s"},
      {milliseconds(999), "0.99s"},
      {milliseconds(1000), "1.0s"},
      {milliseconds(7590), "7.5s"},
      {milliseconds(59999), "59.9s"},
      {seconds(60), "1m 00s"},
      {seconds(123), "2m 03s"},
      {seconds(3599), "59m 59s"},
      {hours(1), "1h 00m"},
      {hours(5) + minutes(7), "5h 07m"},
      {hours(24), "1d 00h"},
      {hours(76), "3d 04h"},
      {hours(24 * 365 * 100), "36500d 00h"},
      {-seconds(5), "0.00s"},
  };
  for (const auto& c : kCases) EXPECT_EQ(DurationText(c.duration), c.text);
}

}  // namespace
}  // namespace muster::launcher
