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

// Returns a fuzz input: one to three random edits of valid host files and ssh
// messages. Each edit inserts one of kPieces.
std::string Input(uint64_t seed) {
  constexpr std::string_view kPieces[] = {"a",
                                          "-",
                                          "@",
                                          ":",
                                          "slots=",
                                          "=",
                                          "9",
                                          "99999999999",
                                          "\n",
                                          "#",
                                          "[",
                                          "]",
                                          ",",
                                          "'",
                                          "\"",
                                          "\\",
                                          " ",
                                          "\r",
                                          "\xff\xff\xff\xff",
                                          "\x40",
                                          "\x01",
                                          "::",
                                          "max_slots=1",
                                          "b",
                                          "\x1b[2J"};
  return DrawnEdits(seed, kPieces, {});
}

TEST(SshFuzzTest, InvalidInputIsRejected) {
  for (uint64_t seed = 1; seed <= 20000; ++seed) {
    SCOPED_TRACE(seed);
    RunFuzzCase(Input(seed));
  }
}

}  // namespace
}  // namespace muster
