#include "trainer_sdk/hierarchical/rank_wording.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(TellAs, TellsRanksOfThePartAsThoseOfTheWhole) {
  EXPECT_EQ(TellAs("rank 1 (pid 1) waits for rank 0", {4, 6}),
            "rank 6 (pid 1) waits for rank 4");
  EXPECT_EQ(TellAs("by rank 1", {4, 6}), "by rank 6");
}

TEST(TellAs, LeavesWhatIsNoRankOfThePart) {
  EXPECT_EQ(TellAs("rank 2, rank x, rank 99999999999999999999, rank ", {4, 6}),
            "rank 2, rank x, rank 99999999999999999999, rank ");
  EXPECT_EQ(TellAs("", {4}), "");
}

}  // namespace
}  // namespace muster
