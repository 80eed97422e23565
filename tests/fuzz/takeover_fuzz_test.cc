// Runs the fuzz target with pseudo-random actions from fixed seeds, so that
// every test run has the same inputs.

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

#include "tests/fuzz/fuzz_case.h"

namespace muster {
namespace {

TEST(TakeoverFuzzTest, TwoWorldsNeverRunAtOnce) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::string input;
    for (int i = 0; i < 121; ++i) input += static_cast<char>(random());
    RunFuzzCase(input);
  }
}

}  // namespace
}  // namespace muster
