// Tests whole simulated clusters with new seeds every day (UTC). The first seed
// of 22 November 2026 is 20261122000000.

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "tests/simulation/seeds.h"

namespace muster::simulation {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kSeedsPerBlock = 50;
#else
constexpr int kSeedsPerBlock = 300;
#endif
constexpr int kBlocks = 8;
constexpr uint64_t kSeedsOfADay = 1'000'000;

// The day of the build (UTC), such as "20261122". Empty: the build was not
// given the day, which the script tools/day prints.
std::string Today() {
  std::ifstream file("tests/simulation/day.txt");
  std::string day;
  file >> day;
  return day;
}

class DailySimulationTest : public ::testing::TestWithParam<int> {};

TEST_P(DailySimulationTest, EveryInvariantHolds) {
  const std::string day = Today();
  ASSERT_EQ(day.size(), 8u) << "no date in tests/simulation/day.txt";
  const uint64_t first = std::stoull(day) * kSeedsOfADay +
                         static_cast<uint64_t>(GetParam() * kSeedsPerBlock);
  EXPECT_EQ(FirstFailure(SeedsFrom(first, kSeedsPerBlock)), "")
      << "a seed of " << day << ", which no other day draws";
}

INSTANTIATE_TEST_SUITE_P(Blocks, DailySimulationTest,
                         ::testing::Range(0, kBlocks));

}  // namespace
}  // namespace muster::simulation
