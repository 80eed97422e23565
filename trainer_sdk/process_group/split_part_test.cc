#include "trainer_sdk/process_group/split_part.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
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

}  // namespace
}  // namespace muster
