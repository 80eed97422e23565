#include "store/core/waiting_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

void ExpectNothingIsLeft(const WaitingList& list) {
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.clients(), 0);
  EXPECT_EQ(list.bytes(), 0);
}

TEST(WaitingListTest, AKeyNamedTwiceIsAwaitedOnce) {
  WaitingList list;
  list.Add(1, {"k", "k"});
  EXPECT_THAT(list.Ready("k"), ElementsAre(1));
  ExpectNothingIsLeft(list);
}

TEST(WaitingListTest, AnElementPassesBySomebodyWhoWaitsForMore) {
  WaitingList list;
  list.Add(1, {"q", "k"});
  EXPECT_EQ(list.ReadyForOne("q"), std::nullopt);
  EXPECT_THAT(list.Ready("q"), IsEmpty());
  EXPECT_THAT(list.Ready("k"), ElementsAre(1));
  ExpectNothingIsLeft(list);
}

TEST(WaitingListTest, WhatNobodyWaitsForAnyMoreIsForgotten) {
  WaitingList list;
  list.Add(1, {"q"});
  EXPECT_EQ(list.ReadyForOne("q"), 1);
  ExpectNothingIsLeft(list);
  list.Add(2, {"a", "b"});
  list.Remove(2);
  ExpectNothingIsLeft(list);
}

}  // namespace
}  // namespace muster::store
