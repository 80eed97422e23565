#include "store/core/waiting_lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

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

TEST(WaitingListTest, AnElementSkipsAClientThatWaitsForMoreKeys) {
  WaitingList list;
  list.Add(1, {"q", "k"});
  EXPECT_EQ(list.ReadyForOne("q"), std::nullopt);
  EXPECT_THAT(list.Ready("q"), IsEmpty());
  EXPECT_THAT(list.Ready("k"), ElementsAre(1));
  ExpectNothingIsLeft(list);
}

TEST(WaitingListTest, AKeyWithoutWaitersIsForgotten) {
  WaitingList list;
  list.Add(1, {"q"});
  EXPECT_EQ(list.ReadyForOne("q"), 1);
  ExpectNothingIsLeft(list);
  list.Add(2, {"a", "b"});
  list.Remove(2);
  ExpectNothingIsLeft(list);
}

TEST(OfferListTest, AnOfferIsOneClientsUntilItIsTaken) {
  OfferList offers;
  EXPECT_TRUE(offers.empty());
  offers.Add(1, "q");
  offers.Add(2, "q");
  offers.Add(3, "r");
  EXPECT_EQ(offers.CountOf("q"), 2);
  EXPECT_EQ(offers.CountOf("other"), 0);
  EXPECT_EQ(offers.bytes(), 3 * (OfferList::kBytesPerOffer + 1));
  EXPECT_THAT(offers.Take(1), Optional(std::string("q")));
  EXPECT_EQ(offers.Take(1), std::nullopt);
  EXPECT_EQ(offers.CountOf("q"), 1);
  EXPECT_THAT(offers.Take(2), Optional(std::string("q")));
  EXPECT_EQ(offers.CountOf("q"), 0);
  EXPECT_THAT(offers.Take(3), Optional(std::string("r")));
  EXPECT_TRUE(offers.empty());
  EXPECT_EQ(offers.bytes(), 0);
}

TEST(OfferListTest, AnOfferOfThePreviousTickIsOld) {
  OfferList offers;
  offers.Add(1, "q");
  EXPECT_THAT(offers.TakeOld(), IsEmpty());
  offers.Add(2, "q");
  offers.Add(3, "r");
  offers.Take(1);
  offers.Add(1, "r");
  EXPECT_THAT(offers.TakeOld(), IsEmpty()) << "the first one's is a new one";
  offers.Add(4, "q");
  EXPECT_THAT(offers.TakeOld(), ElementsAre("r", "q", "r"));
  EXPECT_EQ(offers.CountOf("q"), 1);
  EXPECT_THAT(offers.Take(4), Optional(std::string("q")));
}

TEST(OfferListDeathTest, AClientHasOneOffer) {
  OfferList offers;
  offers.Add(1, "q");
  EXPECT_DEATH(offers.Add(1, "r"), "one offer");
}

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

TEST(BarrierListTest, AClientThatGaveUpIsNotReleased) {
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

TEST(WatchListTest, CountsAKeyOnceForEachClient) {
  WatchList list;
  list.Add(1, "k");
  const size_t once = list.bytes();
  list.Add(1, "k");
  EXPECT_EQ(list.bytes(), once);
  list.Add(2, "k");
  EXPECT_EQ(list.bytes(), 2 * once);
  EXPECT_THAT(list.WatchersOf("k"), ElementsAre(1, 2));
}

TEST(WatchListTest, AClosedClientIsForgotten) {
  WatchList list;
  list.Add(1, "k");
  list.Add(2, "k");
  list.Remove(1);
  EXPECT_THAT(list.WatchersOf("k"), ElementsAre(2));
  list.Remove(2);
  EXPECT_THAT(list.WatchersOf("k"), IsEmpty());
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.bytes(), 0);
  // A removed client can watch the key again.
  list.Add(2, "k");
  EXPECT_THAT(list.WatchersOf("k"), ElementsAre(2));
}

}  // namespace
}  // namespace muster::store
