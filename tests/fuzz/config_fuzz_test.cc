// The fuzzer's case with inputs from seeds, so that every run of the tests does
// the same.

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

#include "tests/fuzz/config_fuzz_case.h"

namespace muster {
namespace {

// One to four edits that put pieces of YAML somewhere.
std::string Input(uint64_t seed) {
  constexpr std::string_view kPieces[] = {
      ":",          ": ",  "\n",         "\n  ",
      "- ",         "[",   "]",          "{",
      "}",          "*a",  "&a ",        "!b ",
      "'",          "\"",  "\\0",        "\\x00",
      "~",          "no",  "|\n",        ">-",
      "---",        "...", "<<: ",       "#",
      "9999999999", "-1",  "train:\n  ", "distributed_type: NO\n",
      "\xff",       "\t",  ","};
  std::mt19937_64 random(seed);
  std::string input(1, static_cast<char>(seed % 5));
  for (uint64_t edits = 1 + random() % 4; edits > 0; --edits) {
    const std::string_view piece = kPieces[random() % std::size(kPieces)];
    input.push_back(static_cast<char>(random() % 2));
    input.push_back(static_cast<char>(random()));
    input.push_back(static_cast<char>(random() % 5));
    input.push_back(static_cast<char>(piece.size()));
    input += piece;
  }
  return input;
}

TEST(ConfigFuzzTest, NothingUnsoundIsRead) {
  for (uint64_t seed = 1; seed <= 5000; ++seed) {
    SCOPED_TRACE(seed);
    RunConfigFuzzCase(Input(seed));
  }
}

}  // namespace
}  // namespace muster
