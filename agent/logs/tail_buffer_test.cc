#include "agent/logs/tail_buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/protocol/failure.h"

namespace muster::agent {
namespace {

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

TEST(TailBufferTest, OfAProgressBarTheLastStateCounts) {
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
