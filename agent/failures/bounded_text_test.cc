#include "agent/failures/bounded_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::agent {
namespace {

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
