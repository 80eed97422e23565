#include "store/core/offer_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

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

TEST(OfferListTest, WhatStoodAtTheTimeBeforeIsOld) {
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

}  // namespace
}  // namespace muster::store
