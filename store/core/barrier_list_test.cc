#include "store/core/barrier_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

void ExpectNothingIsLeft(const BarrierList& list) {
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.clients(), 0);
  EXPECT_EQ(list.bytes(), 0);
}

TEST(BarrierListTest, SmallerWorldsGoFirst) {
  BarrierList list;
  list.Add(1, "b", 4);
  list.Add(2, "b", 2);
  list.Add(3, "b", 2);
  EXPECT_THAT(list.Reached("b", 1), IsEmpty());
  EXPECT_THAT(list.Reached("b", 3), ElementsAre(2, 3));
  EXPECT_TRUE(list.Waits(1));
  EXPECT_THAT(list.Reached("b", 4), ElementsAre(1));
  ExpectNothingIsLeft(list);
}

TEST(BarrierListTest, WhoGaveUpIsNotLetGo) {
  BarrierList list;
  list.Add(1, "b", 2);
  list.Add(2, "b", 2);
  EXPECT_EQ(list.Remove(1), "b");
  EXPECT_EQ(list.Remove(1), std::nullopt);
  EXPECT_THAT(list.Reached("b", 2), ElementsAre(2));
  ExpectNothingIsLeft(list);
}

TEST(BarrierListTest, ABarrierThatAllGaveUpIsForgotten) {
  BarrierList list;
  list.Add(1, "b", 2);
  list.Remove(1);
  ExpectNothingIsLeft(list);
}

}  // namespace
}  // namespace muster::store
