#include "trainer_sdk/process_group/split_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>

#include "base/monotonic_clock.h"
#include "trainer_sdk/process_group/testing/rank_threads.h"
#include "trainer_sdk/store/in_process_store.h"

namespace muster {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SplitTableTest, MembersGoByKeyThenByRank) {
  const std::vector<SplitChoice> choices = {
      {7, 5}, {7, 1}, {-1, 0}, {7, 5}, {0, 0}};
  EXPECT_THAT(MembersOf(choices, 0), ElementsAre(1, 0, 3));
  EXPECT_THAT(MembersOf(choices, 3), ElementsAre(1, 0, 3));
  EXPECT_THAT(MembersOf(choices, 2), IsEmpty());
  EXPECT_THAT(MembersOf(choices, 4), ElementsAre(4));
}

TEST(SplitTableTest, EveryRankGetsTheTableAndNothingIsLeft) {
  InProcessStore store;
  const Instant deadline = MonotonicNow() + std::chrono::seconds(30);
  EXPECT_TRUE(
      FirstFailure(RunRanks(4, [&](int rank) {
        const auto choices =
            ExchangeChoices(store, rank, 4, {rank % 2, -rank}, deadline);
        if (!choices.ok()) return choices.status();
        EXPECT_THAT(*choices,
                    ElementsAre(SplitChoice{0, 0}, SplitChoice{1, -1},
                                SplitChoice{0, -2}, SplitChoice{1, -3}));
        return absl::OkStatus();
      })).ok());
  for (const char* key : {"table", "read", "rank/0", "rank/3"}) {
    EXPECT_FALSE(*store.Check({key})) << key;
  }
}

TEST(SplitTableTest, WhatIsNoChoiceIsRefused) {
  InProcessStore store;
  const Instant deadline = MonotonicNow() + std::chrono::seconds(30);
  ASSERT_TRUE(store.Set("rank/1", "nonsense").ok());
  EXPECT_TRUE(absl::IsInvalidArgument(
      ExchangeChoices(store, 0, 2, {0, 0}, deadline).status()));
}

}  // namespace
}  // namespace muster
