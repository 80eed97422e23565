#include "agent/logs/line_assembler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Line Whole(const std::string& text) { return {text, LineEnd::kNewline}; }
Line Over(const std::string& text) { return {text, LineEnd::kOverwritten}; }
Line Cut(const std::string& text) { return {text, LineEnd::kCut}; }
Line Last(const std::string& text) { return {text, LineEnd::kStreamEnd}; }

// All lines of `bytes`, appended in pieces of `piece` bytes.
std::vector<Line> Lines(const std::string& bytes, size_t piece,
                        size_t most = kMaxConsoleLineBytes) {
  LineAssembler assembler(most);
  std::vector<Line> lines;
  for (size_t i = 0; i < bytes.size(); i += piece) {
    for (Line& line : assembler.Append(bytes.substr(i, piece))) {
      lines.push_back(std::move(line));
    }
  }
  if (std::optional<Line> last = assembler.Finish()) lines.push_back(*last);
  return lines;
}

TEST(LineAssemblerTest, LinesDoNotDependOnHowTheBytesCome) {
  for (size_t piece : {1, 2, 3, 5, 100}) {
    EXPECT_THAT(
        Lines("one\ntwo\r\n\nlast", piece),
        ElementsAre(Whole("one"), Whole("two"), Whole(""), Last("last")))
        << piece;
  }
}

TEST(LineAssemblerTest, EachStateOfAProgressBarIsAnOverwrittenLine) {
  for (size_t piece : {1, 2, 7, 100}) {
    EXPECT_THAT(
        Lines("\r 0%|\r 50%|\r100%|\ndone\n", piece),
        ElementsAre(Over(" 0%|"), Over(" 50%|"), Whole("100%|"), Whole("done")))
        << piece;
  }
}

TEST(LineAssemblerTest, ABarThatClearsItselfLeavesNothing) {
  EXPECT_THAT(Lines("\r100%|\r      \r", 4), ElementsAre(Over("100%|")));
}

TEST(LineAssemblerTest, TheStateBeforeAReturnAtTheEndIsNotLost) {
  EXPECT_THAT(Lines("\r 7%|\r", 100), ElementsAre(Last(" 7%|")));
}

TEST(LineAssemblerTest, SeveralReturnsBeforeANewlineAreOneEnd) {
  EXPECT_THAT(Lines("text\r\r\n", 1), ElementsAre(Whole("text")));
}

TEST(LineAssemblerTest, LongLinesAreCutWithoutLosingBytes) {
  EXPECT_THAT(Lines("0123456789\n", 100, 4),
              ElementsAre(Cut("0123"), Cut("4567"), Whole("89")));
  EXPECT_THAT(Lines("0123\n", 1, 4), ElementsAre(Whole("0123")));
}

TEST(LineAssemblerTest, CutsBetweenCharacters) {
  EXPECT_THAT(Lines("abc\xe2\x82\xac"
                    "d\n",
                    100, 4),
              ElementsAre(Cut("abc"), Whole("\xe2\x82\xac"
                                            "d")));
}

TEST(LineAssemblerTest, NothingIsLeftOfFinishedLines) {
  EXPECT_THAT(Lines("", 1), IsEmpty());
  EXPECT_THAT(Lines("whole\n", 1), ElementsAre(Whole("whole")));
}

}  // namespace
}  // namespace muster::agent
