#include "rendezvous/job/natural_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace muster::rendezvous {
namespace {

TEST(NaturalOrder, NumbersCompareAsNumbers) {
  EXPECT_LT(CompareNaturally("node2", "node10"), 0);
  EXPECT_GT(CompareNaturally("node10", "node9"), 0);
  EXPECT_LT(CompareNaturally("rack1-node12", "rack2-node3"), 0);
  EXPECT_EQ(CompareNaturally("node7", "node7"), 0);
}

TEST(NaturalOrder, NumbersOfAnyLengthDoNotOverflow) {
  EXPECT_LT(
      CompareNaturally("a99999999999999999999998", "a99999999999999999999999"),
      0);
  EXPECT_LT(
      CompareNaturally("a99999999999999999999999", "a100000000000000000000000"),
      0);
}

TEST(NaturalOrder, ShorterComesFirst) {
  EXPECT_LT(CompareNaturally("node", "node1"), 0);
  EXPECT_LT(CompareNaturally("", "a"), 0);
  EXPECT_GT(CompareNaturally("node1a", "node1"), 0);
}

TEST(NaturalOrder, LeadingZerosDecideOnlyBetweenOtherwiseEqualTexts) {
  EXPECT_GT(CompareNaturally("node02", "node2"), 0);
  EXPECT_LT(CompareNaturally("node02", "node3"), 0);
  EXPECT_LT(CompareNaturally("node002a", "node02b"), 0);
  EXPECT_NE(CompareNaturally("a0b00", "a00b0"), 0);
}

TEST(NaturalOrder, BytesAboveAsciiAreUnsigned) {
  EXPECT_LT(CompareNaturally("z", "\xc3\xa9"), 0);
}

TEST(NaturalOrder, IsAnOrder) {
  std::vector<std::string> names = {"n10", "n9",  "n1", "n01", "n",  "",
                                    "n1a", "n1b", "m2", "10",  "9",  "n001",
                                    "n-1", "n 1", "N1", "n1.", "n1-"};
  for (const std::string& a : names) {
    for (const std::string& b : names) {
      EXPECT_EQ(CompareNaturally(a, b) < 0, CompareNaturally(b, a) > 0)
          << a << " " << b;
      EXPECT_EQ(CompareNaturally(a, b) == 0, a == b) << a << " " << b;
      for (const std::string& c : names) {
        if (CompareNaturally(a, b) < 0 && CompareNaturally(b, c) < 0) {
          EXPECT_LT(CompareNaturally(a, c), 0) << a << " " << b << " " << c;
        }
      }
    }
  }
}

}  // namespace
}  // namespace muster::rendezvous
