#include "trainer_sdk/shared_memory/peers.h"

#include <vector>

#include "gtest/gtest.h"

namespace muster {
namespace {

CoreSet Cores(const std::vector<int>& cores) {
  CoreSet set;
  for (const int core : cores) set.set(core);
  return set;
}

TEST(MaySpin, WithACoreForEachRank) {
  EXPECT_TRUE(MaySpin({Cores({0, 1}), Cores({0, 1})}, 0));
  EXPECT_FALSE(MaySpin({Cores({0, 1}), Cores({0, 1}), Cores({0, 1})}, 0));
}

TEST(MaySpin, WhereEachIsBoundToItsOwn) {
  EXPECT_TRUE(MaySpin({Cores({0}), Cores({1})}, 0));
  EXPECT_TRUE(MaySpin({Cores({0}), Cores({1})}, 1));
}

TEST(MaySpin, NotWhereTwoAreBoundToOne) {
  const std::vector<CoreSet> cores = {Cores({0}), Cores({0}), Cores({1, 2})};
  EXPECT_FALSE(MaySpin(cores, 0));
  EXPECT_FALSE(MaySpin(cores, 1));
  EXPECT_TRUE(MaySpin(cores, 2));
}

TEST(MaySpin, NotWhereNothingIsKnown) {
  EXPECT_FALSE(MaySpin({CoreSet(), CoreSet()}, 0));
}

TEST(AvailableCores, AreSome) { EXPECT_TRUE(AvailableCores().any()); }

}  // namespace
}  // namespace muster
