#include "trainer_sdk/data/random_windows.h"

#include <set>

#include "gtest/gtest.h"

namespace muster {
namespace {

TEST(RandomWindowsTest, TheSameDrawIsTheSame) {
  const WindowDraw draw{.seed = 7, .step = 3, .batch = 1};
  EXPECT_EQ(DrawWindows(draw, 20, 1000), DrawWindows(draw, 20, 1000));
}

TEST(RandomWindowsTest, AnyOtherIsAnother) {
  std::set<std::vector<int64_t>> seen;
  for (uint64_t seed = 0; seed < 3; ++seed) {
    for (int64_t step = 0; step < 10; ++step) {
      for (int64_t batch = 0; batch < 4; ++batch) {
        seen.insert(DrawWindows({seed, step, batch}, 8, 1'000'000));
      }
    }
  }
  EXPECT_EQ(seen.size(), 3 * 10 * 4u);
}

TEST(RandomWindowsTest, AllPositionsAreDrawnAndNoOthers) {
  std::set<int64_t> seen;
  for (const int64_t begin : DrawWindows({}, 1000, 10)) seen.insert(begin);
  EXPECT_EQ(seen.size(), 10u);
  EXPECT_EQ(*seen.begin(), 0);
  EXPECT_EQ(*seen.rbegin(), 9);
}

}  // namespace
}  // namespace muster
