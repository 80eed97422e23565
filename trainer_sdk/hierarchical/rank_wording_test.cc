#include "trainer_sdk/hierarchical/rank_wording.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(WithGroupRanks, RanksBecomeThoseOfTheWholeGroup) {
  EXPECT_EQ(WithGroupRanks("rank 1 (pid 1) waits for rank 0", {4, 6}),
            "rank 6 (pid 1) waits for rank 4");
  EXPECT_EQ(WithGroupRanks("by rank 1", {4, 6}), "by rank 6");
}

TEST(WithGroupRanks, OtherNumbersStay) {
  EXPECT_EQ(WithGroupRanks("rank 2, rank x, rank 99999999999999999999, rank ",
                           {4, 6}),
            "rank 2, rank x, rank 99999999999999999999, rank ");
  EXPECT_EQ(WithGroupRanks("", {4}), "");
}

TEST(WithoutCalls, DropsHeadingsAndWhatIsBeforeThem) {
  EXPECT_EQ(WithoutCalls("barrier #1: it died"), "it died");
  EXPECT_EQ(WithoutCalls("aborted by rank 1: send after #3 of 1 int8 (1 bytes) "
                         "to rank 0: reduce #2 of 4 float32 (16 bytes), sum to "
                         "rank 0: rank 0: it died"),
            "rank 0: it died");
}

TEST(WithoutCalls, LeavesWhatOnlySpeaksOfCalls) {
  for (const char* message :
       {"ranks called different things: rank 0 called barrier #1; rank 1 "
        "called all_reduce #1 of 1 int8 (1 bytes), sum",
        "it died", "barrier #1", ": it died", "number 1: it died", ""}) {
    EXPECT_EQ(WithoutCalls(message), message);
  }
}

TEST(WithFinderGroupRank, RanksAfterTheFinderStay) {
  EXPECT_EQ(WithFinderGroupRank("rank 1 found: waited for rank 1", {0, 2}),
            "rank 2 found: waited for rank 1");
  EXPECT_EQ(WithFinderGroupRank("rank 1 found: rank 1 found: it died", {0, 2}),
            "rank 2 found: rank 1 found: it died");
}

TEST(WithFinderGroupRank, MessageWithoutFinderStays) {
  for (const char* message :
       {"waited for rank 1", "it died: rank 1 found: nothing",
        " found: ", "rank  found: ", "rank one found: ", ""}) {
    EXPECT_EQ(WithFinderGroupRank(message, {0, 2}), message);
  }
}

TEST(FromLast, KeepsWhoFoundIt) {
  EXPECT_EQ(FromLast("barrier #1: ",
                     "rank 1 found: barrier #1: rank 12 found: barrier #1: "
                     "waited for rank 3"),
            "rank 12 found: barrier #1: waited for rank 3");
  EXPECT_EQ(FromLast("barrier #1: ", "aborted: barrier #1: it died"),
            "barrier #1: it died");
}

TEST(FromLast, PutsTheHeadingBeforeWhatHasNone) {
  EXPECT_EQ(FromLast("barrier #1: ", "it died"), "barrier #1: it died");
  EXPECT_EQ(FromLast("barrier #2: ", "rank 1 found: barrier #1: it died"),
            "barrier #2: rank 1 found: barrier #1: it died");
}

TEST(WithoutSteps, NamesNoneForAnyRank) {
  EXPECT_EQ(
      WithoutSteps("waited for rank 1, which has not called it: its last "
                   "collective was broadcast #3 of 7 int8 (7 bytes) from rank "
                   "0; rank 2, which has not called it: its last collective "
                   "was barrier #2",
                   "is elsewhere"),
      "waited for rank 1, which is elsewhere; rank 2, which is elsewhere");
  EXPECT_EQ(WithoutSteps("rank 1 died", "is elsewhere"), "rank 1 died");
}

}  // namespace
}  // namespace muster
