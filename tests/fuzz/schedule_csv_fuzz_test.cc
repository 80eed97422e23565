// Runs the fuzzer's case with inputs drawn from seeds, so that every run is the
// same.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/edited_bytes.h"
#include "tests/fuzz/fuzz_case.h"

namespace muster {
namespace {

// One to three edits that insert pieces of actions.
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
