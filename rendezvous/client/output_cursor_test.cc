#include "rendezvous/client/output_cursor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::rendezvous {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Stream = OutputLine::Stream;

constexpr Instant kNow = Instant(seconds(1000));

OutputLine Line(int round, uint64_t position, Stream stream = Stream::kOut) {
  return {.rank = 3, .round = round, .stream = stream, .position = position};
}

// Passes `lines` to the cursor, and returns the positions of the lines that the
// cursor keeps.
std::vector<uint64_t> Passed(OutputCursor& cursor,
                             const std::vector<OutputLine>& lines,
                             const std::string& node_id = "n") {
  InquiryUpdate update{.node_id = node_id, .part = {.lines = lines}};
  cursor.Pass(kNow, &update);
  std::vector<uint64_t> positions;
  for (const OutputLine& line : update.part.lines) {
    positions.push_back(line.position);
  }
  return positions;
}

TEST(OutputCursorTest, NoLinePassesTwice) {
  OutputCursor cursor;
  EXPECT_THAT(Passed(cursor, {Line(1, 4), Line(1, 9)}), ElementsAre(4, 9));
  EXPECT_THAT(Passed(cursor, {Line(1, 4), Line(1, 9), Line(1, 10)}),
              ElementsAre(10));
}

TEST(OutputCursorTest, StreamsRoundsAndNodesAreSeparate) {
  OutputCursor cursor;
  EXPECT_THAT(Passed(cursor, {Line(1, 9)}), ElementsAre(9));
  EXPECT_THAT(Passed(cursor, {Line(1, 4, Stream::kErr)}), ElementsAre(4));
  EXPECT_THAT(Passed(cursor, {Line(1, 5)}, "another"), ElementsAre(5));
  EXPECT_THAT(Passed(cursor, {Line(2, 6), Line(1, 9), Line(1, 11)}),
              ElementsAre(6, 11));
}

TEST(OutputCursorTest, OnlyTheTwoNewestRoundsAreKept) {
  OutputCursor cursor;
  EXPECT_THAT(Passed(cursor, {Line(1, 4), Line(2, 5), Line(3, 6)}),
              ElementsAre(4, 5, 6));
  EXPECT_THAT(Passed(cursor, {Line(1, 7), Line(2, 5), Line(2, 8)}),
              ElementsAre(8));
}

TEST(OutputCursorTest, LinesWithoutPositionsPass) {
  OutputCursor cursor;
  EXPECT_THAT(Passed(cursor, {Line(1, 0), Line(1, 0)}), ElementsAre(0, 0));
}

TEST(OutputCursorTest, TheRestBeginsBeforeTheLastUpdate) {
  OutputCursor cursor;
  EXPECT_THAT(Passed(cursor, {}), IsEmpty());
  const Inquiry rest =
      cursor.RestOf({.ranks = {3}, .lines = 10, .pattern = "x"},
                    kNow + seconds(2), kNow + seconds(1));
  EXPECT_EQ(rest.lines, -1);
  EXPECT_EQ(rest.since, seconds(2) + OutputCursor::kMargin);
  EXPECT_THAT(rest.ranks, ElementsAre(3));
  EXPECT_EQ(rest.pattern, "x");
  // The client notices the loss of the coordinator an hour after the last
  // update. RestOf assumes that a client notices a loss within kSilence. So
  // RestOf asks only for the output of the last kSilence + kMargin.
  const Instant lost = kNow + std::chrono::hours(1);
  EXPECT_EQ(cursor.RestOf({}, lost, lost).since,
            OutputCursor::kSilence + OutputCursor::kMargin);
}

}  // namespace
}  // namespace muster::rendezvous
