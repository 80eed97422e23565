#include "trainer_sdk/process_group/world_ranks.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

const std::vector<int> kOdd = {1, 3, 5, 12};

TEST(WorldRanksTest, GroupRanksBecomeWorldRanks) {
  EXPECT_EQ(InWorldRanks("rank 0 (pid 3) died; noticed by rank 1", kOdd),
            "rank 1 (pid 3) died; noticed by rank 3");
  EXPECT_EQ(InWorldRanks("rank 3, rank 0", kOdd), "rank 12, rank 1");
  EXPECT_EQ(InWorldRanks("rank 1, 2 elements", kOdd), "rank 3, 2 elements");
}

TEST(WorldRanksTest, ListsAndRangesOfRanksToo) {
  EXPECT_EQ(InWorldRanks("ranks 0, 2 called barrier #1", kOdd),
            "ranks 1, 5 called barrier #1");
  EXPECT_EQ(InWorldRanks("ranks 0-2 wait", kOdd), "ranks 1, 3, 5 wait");
  EXPECT_EQ(InWorldRanks("ranks 1-3", {4, 5, 6, 7}), "ranks 5-7");
}

TEST(WorldRanksTest, OtherNumbersStay) {
  for (const char* text :
       {"", "rank", "rank ", "rank 4 is another's", "ranks 2-9", "4 ranks: 1",
        "rank 99999999999999999999", "ranks of rank's", "frank"}) {
    EXPECT_EQ(InWorldRanks(std::string_view(text), kOdd), text);
  }
}

TEST(WorldRanksTest, ErrorsOfArgumentsAndReasonsOfAnAbortStay) {
  const absl::Status argument = absl::InvalidArgumentError("rank 1 is its own");
  EXPECT_EQ(InWorldRanks(argument, kOdd), argument);
  EXPECT_EQ(InWorldRanks(absl::AbortedError(
                             "aborted by rank 1 (pid 4): stage 0 on rank 0"),
                         kOdd)
                .message(),
            "aborted by rank 3 (pid 4): stage 0 on rank 0");
  EXPECT_EQ(InWorldRanks(absl::AbortedError("rank 1 found: group x was "
                                            "aborted: rank 0 has had enough"),
                         kOdd)
                .message(),
            "rank 3 found: group x was aborted: rank 0 has had enough");
  EXPECT_EQ(InWorldRanks(absl::UnavailableError("rank 1 died"), kOdd),
            absl::UnavailableError("rank 3 died"));
  EXPECT_EQ(InWorldRanks(absl::UnavailableError("rank 1 died"), {0, 1}),
            absl::UnavailableError("rank 1 died"));
}

}  // namespace
}  // namespace muster
