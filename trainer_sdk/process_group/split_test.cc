#include "trainer_sdk/process_group/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>

#include "base/monotonic_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/process_group/testing/rank_threads.h"
#include "trainer_sdk/store/in_process_store.h"

namespace muster {
namespace {

using ::testing::ElementsAre;

GroupPlace Parent() {
  GroupPlace parent;
  parent.rank = 2;
  parent.size = 4;
  parent.store = std::make_shared<InProcessStore>();
  parent.name = "world";
  parent.birth = 7;
  return parent;
}

TEST(SplitPartTest, MembersAreRankedAsTheyAreListed) {
  std::vector<int> global_ranks = {99};
  const GroupPlace part =
      PartOf(Parent(), {10, 11, 12, 13}, {3, 2}, 1,
             {.number = 1, .prefix = "split1", .label = ""}, &global_ranks);
  EXPECT_EQ(part.rank, 1);
  EXPECT_EQ(part.size, 2);
  EXPECT_EQ(part.name, "world/split1:1");
  EXPECT_THAT(global_ranks, ElementsAre(13, 12));
}

TEST(SplitPartTest, ALabelIsItsName) {
  std::vector<int> global_ranks;
  EXPECT_EQ(
      PartOf(Parent(), {0, 1, 2, 3}, {2}, 0,
             {.number = 1, .prefix = "split1", .label = "dp"}, &global_ranks)
          .name,
      "world/dp:0");
}

TEST(SplitPartTest, KeysAreThePartsOwn) {
  const GroupPlace parent = Parent();
  std::vector<int> global_ranks;
  const SplitNaming naming{.number = 1, .prefix = "split1", .label = ""};
  const GroupPlace part =
      PartOf(parent, {0, 1, 2, 3}, {2}, 5, naming, &global_ranks);
  ASSERT_TRUE(part.store->Set("key", "value").ok());
  EXPECT_TRUE(*parent.store->Check({"split1/group5/key"}));
}

TEST(SplitPartTest, NoTwoSplitsAreBornAlike) {
  std::vector<int> global_ranks;
  const auto birth = [&](int number) {
    return PartOf(Parent(), {0, 1, 2, 3}, {2}, 0,
                  {.number = number, .prefix = "split", .label = "dp"},
                  &global_ranks)
        .birth;
  };
  EXPECT_NE(birth(1), birth(2));
  EXPECT_NE(birth(1), Parent().birth);
}

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

TEST(SplitTableTest, InvalidChoiceIsRefused) {
  InProcessStore store;
  const Instant deadline = MonotonicNow() + std::chrono::seconds(30);
  ASSERT_TRUE(store.Set("rank/1", "nonsense").ok());
  EXPECT_TRUE(absl::IsInvalidArgument(
      ExchangeChoices(store, 0, 2, {0, 0}, deadline).status()));
}

}  // namespace
}  // namespace muster
