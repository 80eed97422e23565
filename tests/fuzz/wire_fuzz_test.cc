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

// Returns a fuzz input: a byte that selects a kind of message, and one to four
// edits, each of which inserts one of the pieces below.
std::string Input(uint64_t seed) {
  constexpr std::string_view kPieces[] = {
      "\x08",
      "\x0a",
      "\x12",
      "\x1a\x02",
      "\x22",
      "\x28\x01",
      "\x32\x01"
      "a",
      "\x01",
      "\x02",
      "\x7f",
      "\x80\x01",
      "\xff\xff\xff\xff\x0f",
      "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
      "\xff",
      "\n",
      "\x1b[2J",
      "a",
      "node-a",
      "run"};
  return static_cast<char>(seed % 256) +
         DrawnEdits(seed, kPieces, {.max_edits = 4, .places = 600});
}

TEST(WireFuzzTest, HostileMessagesAreRefusedOrHarmless) {
  for (uint64_t seed = 1; seed <= 6000; ++seed) {
    SCOPED_TRACE(seed);
    RunFuzzCase(Input(seed));
  }
}

}  // namespace
}  // namespace muster
