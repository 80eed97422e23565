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

// Returns a fuzz input: a byte for the job's phase and steps, and one to three
// edits, which insert pieces of records.
std::string Input(uint64_t seed) {
  constexpr std::string_view kPieces[] = {
      " ",
      "\x28\x01",
      "8",
      "\x90\x01",
      "\x9a\x01",
      "\xaa\x01",
      "\xd0\x01",
      "\x01",
      "\x02",
      "\x7f",
      "\x80\x01",
      "\xff\xff\xff\xff\x0f",
      "\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
      "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
      "\n",
      "a",
      "node-a",
      "node-b"};
  return static_cast<char>(seed % 256) +
         DrawnEdits(seed, kPieces, {.max_edits = 3, .places = 2500});
}

TEST(RecordFuzzTest, DamagedRecordsAreRefusedOrSound) {
  for (uint64_t seed = 1; seed <= 6000; ++seed) {
    SCOPED_TRACE(seed);
    RunFuzzCase(Input(seed));
  }
}

}  // namespace
}  // namespace muster
