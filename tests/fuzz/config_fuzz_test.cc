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

// Returns a fuzz input: a byte that selects a valid configuration file, and one
// to four edits of this file, each of which inserts one of the pieces below.
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
  return static_cast<char>(seed % 5) +
         DrawnEdits(seed, kPieces, {.max_edits = 4, .places = 512});
}

TEST(ConfigFuzzTest, InvalidInputIsRejected) {
  for (uint64_t seed = 1; seed <= 5000; ++seed) {
    SCOPED_TRACE(seed);
    RunFuzzCase(Input(seed));
  }
}

}  // namespace
}  // namespace muster
