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

// Returns a fuzz input: a byte that selects the kind of input, and one to four
// edits, which insert pieces of workers' output.
std::string Input(uint64_t seed) {
  constexpr std::string_view kPieces[] = {"\n",
                                          "\r",
                                          "\r\n",
                                          "\t",
                                          "\x1b[31m",
                                          "\x1b[2J",
                                          "\x1b]0;",
                                          "\x07",
                                          "\xff",
                                          "\xe2\x80\xae",
                                          "\xe2\x80",
                                          "=",
                                          "{",
                                          "}",
                                          "[",
                                          "]",
                                          ":",
                                          ",",
                                          "\"",
                                          "\\",
                                          "\\n",
                                          "\\u001b",
                                          "null",
                                          "1e999",
                                          "-1",
                                          "nan",
                                          "inf",
                                          "99999999999999999999",
                                          "\xff\xff\xff\xff",
                                          std::string_view("\0\0\0\1", 4),
                                          "STEP=",
                                          "STATUS="};
  return static_cast<char>(seed % 256) +
         DrawnEdits(seed, kPieces, {.max_edits = 4, .places = 600});
}

TEST(WorkerFuzzTest, OutputOfWorkersHarmsNothing) {
  for (uint64_t seed = 1; seed <= 12000; ++seed) {
    SCOPED_TRACE(seed);
    RunFuzzCase(Input(seed));
  }
}

}  // namespace
}  // namespace muster
