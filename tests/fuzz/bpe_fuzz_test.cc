// Runs the fuzz target with pseudo-random inputs from fixed seeds, so that
// every test run has the same inputs.

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "tests/fuzz/fuzz_case.h"

namespace muster {
namespace {

using std::string_view_literals::operator""sv;

// Draws a random input from few byte values, so that some inputs are nearly
// valid.
std::string Input(uint64_t seed) {
  constexpr std::string_view kBytes =
      "\0\0\0\1\2\xff\xc4\xa0\xe3\x80\x80 \n'sthelowr0129\"\\{}:,#"sv;
  std::mt19937_64 random(seed);
  std::string input(1, static_cast<char>(seed % 5));
  const bool noise = random() % 4 == 0;
  for (uint64_t left = random() % 60; left > 0; --left) {
    input.push_back(noise ? static_cast<char>(random())
                          : kBytes[random() % kBytes.size()]);
  }
  return input;
}

TEST(BpeFuzzTest, InvalidInputIsRejected) {
  for (uint64_t seed = 1; seed <= 5000; ++seed) {
    SCOPED_TRACE(seed);
    RunFuzzCase(Input(seed));
  }
}

}  // namespace
}  // namespace muster
