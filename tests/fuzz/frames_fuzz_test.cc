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

// Returns a fuzz input: a byte that selects what is parsed (frames, texts in
// the store, or replies of the store), and one to four edits, each of which
// inserts one of the pieces below.
std::string Input(uint64_t seed) {
  constexpr std::string_view kPieces[] = {std::string_view("\0", 1),
                                          "\x01",
                                          "\x02",
                                          "\x03",
                                          "\x04",
                                          "\x08",
                                          "\x7f",
                                          "\x80",
                                          "\xff",
                                          "\xff\xff\xff\xff",
                                          "FTUM",
                                          "MUTF",
                                          "0",
                                          "9",
                                          "-1",
                                          " ",
                                          "99999999999",
                                          "\xff\xff\xff\xff\xff\xff\xff\x7f"};
  return static_cast<char>(seed % 256) +
         DrawnEdits(seed, kPieces, {.max_edits = 4, .places = 640});
}

TEST(FramesFuzzTest, FramesOfStrangersHarmNothing) {
  for (uint64_t seed = 1; seed <= 20000; ++seed) {
    SCOPED_TRACE(seed);
    RunFuzzCase(Input(seed));
  }
}

}  // namespace
}  // namespace muster
