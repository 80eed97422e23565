// The fuzzer's case with inputs from seeds, so that every run of the tests does
// the same.

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

#include "tests/fuzz/schedule_csv_fuzz_case.h"

namespace muster {
namespace {

// One to three edits that put pieces of actions somewhere.
std::string Input(uint64_t seed) {
  constexpr std::string_view kPieces[] = {
      "0F0", "1B1", "2F0", ",", "\n",     "0",  "9",  "999999", "F",    "B",
      "I",   "W",   " ",   "",  "SEND_F", "\r", "1I", "1W",     "\xff", "-"};
  std::mt19937_64 random(seed);
  std::string input(1, static_cast<char>(seed % 4));
  for (uint64_t edits = 1 + random() % 3; edits > 0; --edits) {
    const std::string_view piece = kPieces[random() % std::size(kPieces)];
    input.push_back('\0');
    input.push_back(static_cast<char>(random()));
    input.push_back(static_cast<char>(random() % 5));
    input.push_back(static_cast<char>(piece.size()));
    input += piece;
  }
  return input;
}

TEST(ScheduleCsvFuzzTest, NothingUnsoundIsRead) {
  for (uint64_t seed = 1; seed <= 20000; ++seed) {
    SCOPED_TRACE(seed);
    RunScheduleCsvFuzzCase(Input(seed));
  }
}

}  // namespace
}  // namespace muster
