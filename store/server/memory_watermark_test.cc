#include "store/server/memory_watermark.h"

#include <gtest/gtest.h>

namespace muster::store {
namespace {

constexpr size_t kLeast = MemoryWatermark::kLeast;

TEST(MemoryWatermark, GrowthReturnsNothing) {
  MemoryWatermark mark;
  for (size_t bytes : {size_t{0}, kLeast, 10 * kLeast, 10 * kLeast}) {
    EXPECT_FALSE(mark.Falls(bytes));
  }
}

TEST(MemoryWatermark, AFallToHalfIsReturnedOnce) {
  MemoryWatermark mark;
  EXPECT_FALSE(mark.Falls(10 * kLeast));
  EXPECT_FALSE(mark.Falls(5 * kLeast + 1));
  EXPECT_TRUE(mark.Falls(5 * kLeast));
  EXPECT_FALSE(mark.Falls(5 * kLeast));
  EXPECT_FALSE(mark.Falls(3 * kLeast));
  EXPECT_TRUE(mark.Falls(0));
}

TEST(MemoryWatermark, SmallAmountsAreKept) {
  MemoryWatermark mark;
  EXPECT_FALSE(mark.Falls(kLeast - 1));
  EXPECT_FALSE(mark.Falls(0));
  EXPECT_FALSE(mark.Falls(kLeast));
  EXPECT_FALSE(mark.Falls(1));
  EXPECT_TRUE(mark.Falls(0));
}

TEST(MemoryWatermark, ANewMaximumCountsAfresh) {
  MemoryWatermark mark;
  EXPECT_FALSE(mark.Falls(2 * kLeast));
  EXPECT_TRUE(mark.Falls(0));
  EXPECT_FALSE(mark.Falls(2 * kLeast));
  EXPECT_TRUE(mark.Falls(kLeast));
}

}  // namespace
}  // namespace muster::store
