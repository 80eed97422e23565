// Runs the fuzz target with pseudo-random inputs from fixed seeds, so that
// every test run has the same inputs.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/edited_bytes.h"
#include "tests/fuzz/fuzz_case.h"

namespace muster {
namespace {

// Returns a fuzz input: a byte that selects a valid schedule, and one to three
// random edits of it. Each edit inserts a piece of a schedule.
std::string Input(uint64_t seed) {
  constexpr std::string_view kPieces[] = {
      "0F0", "1B1", "2F0", ",", "\n",     "0",  "9",  "999999", "F",    "B",
      "I",   "W",   " ",   "",  "SEND_F", "\r", "1I", "1W",     "\xff", "-"};
  return static_cast<char>(seed % 4) + DrawnEdits(seed, kPieces, {});
}

TEST(ScheduleCsvFuzzTest, InvalidInputIsRejected) {
  for (uint64_t seed = 1; seed <= 20000; ++seed) {
    SCOPED_TRACE(seed);
    RunFuzzCase(Input(seed));
  }
}

}  // namespace
}  // namespace muster
