#include "agent/logs/stream_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/protocol/failure.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Line Whole(const std::string& text) { return {text, LineEnd::kNewline}; }
Line Over(const std::string& text) { return {text, LineEnd::kOverwritten}; }
Line Cut(const std::string& text) { return {text, LineEnd::kCut}; }
Line Last(const std::string& text) { return {text, LineEnd::kStreamEnd}; }

// Splits `bytes` into lines, appending pieces of `piece` bytes.
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

TEST(StreamFilterTest, AnyContainedTextMatches) {
  StreamFilter filter({"loss", "Error"});
  EXPECT_TRUE(filter.Matches("step 3 loss 2.1"));
  EXPECT_TRUE(filter.Matches("RuntimeError: boom"));
  EXPECT_FALSE(filter.Matches("step 3"));
  EXPECT_FALSE(filter.Matches("LOSS"));
  EXPECT_FALSE(filter.Matches(""));
}

TEST(StreamFilterTest, NothingToLookForMatchesNothing) {
  EXPECT_TRUE(StreamFilter({}).empty());
  EXPECT_FALSE(StreamFilter({}).Matches("text"));
  EXPECT_TRUE(StreamFilter({""}).empty());
  EXPECT_FALSE(StreamFilter({"", "x"}).Matches("abc"));
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> TailOf(std::string_view bytes) {
  TailBuffer tail;
  tail.Append(bytes);
  return tail.Lines();
}

TEST(TailBufferTest, KeepsTheLastLinesOldestFirst) {
  TailBuffer tail;
  for (int i = 0; i < 1000; ++i) tail.Append(std::to_string(i) + "\n");
  std::vector<std::string> lines = tail.Lines();
  ASSERT_EQ(lines.size(), static_cast<size_t>(rendezvous::kMaxStderrLines));
  EXPECT_EQ(lines.front(), std::to_string(1000 - rendezvous::kMaxStderrLines));
  EXPECT_EQ(lines.back(), "999");
}

TEST(TailBufferTest, PiecesMakeLines) {
  TailBuffer tail;
  for (const char* piece : {"Run", "time", "Error: boom", "\nlast"}) {
    tail.Append(piece);
  }
  EXPECT_THAT(tail.Lines(), ElementsAre("RuntimeError: boom", "last"));
}

TEST(TailBufferTest, LinesAreCleanAndNotBlank) {
  EXPECT_THAT(TailOf("\x1b[31mError\x1b[0m\x07  \n\n  \t\n\xff!\n"),
              ElementsAre("Error", "\xef\xbf\xbd!"));
}

TEST(TailBufferTest, LastStateOfAProgressBarCounts) {
  EXPECT_THAT(TailOf("\r 1%|\r 2%|\r 3%|\nboom\r\n\r 9%\r   \r"),
              ElementsAre(" 3%|", "boom", " 9%"));
}

TEST(TailBufferTest, LongLinesAreShortened) {
  std::vector<std::string> lines = TailOf(std::string(5000, 'x') + "\n");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].size(), static_cast<size_t>(rendezvous::kMaxLineBytes));
  EXPECT_TRUE(lines[0].ends_with("x..."));
}

TEST(TailBufferTest, MemoryIsBoundedAndTheEndSurvives) {
  TailBuffer tail;
  std::string chunk(100 << 10, 'x');
  for (int i = 0; i < 10; ++i) tail.Append(chunk);
  tail.Append("\nthe end\n");
  EXPECT_EQ(tail.Lines().back(), "the end");
  for (int i = 0; i < 100000; ++i) tail.Append("0123456789\n");
  EXPECT_EQ(tail.Lines().size(),
            static_cast<size_t>(rendezvous::kMaxStderrLines));
  for (const std::string& line : tail.Lines()) EXPECT_EQ(line, "0123456789");
}

TEST(TailBufferTest, EmptyStreamHasNoLines) {
  EXPECT_THAT(TailBuffer().Lines(), IsEmpty());
}

}  // namespace
}  // namespace muster::agent
