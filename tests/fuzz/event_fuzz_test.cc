// Runs the fuzz target with pseudo-random inputs from fixed seeds, so that
// every test run has the same inputs.

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

#include "tests/fuzz/edited_bytes.h"
#include "tests/fuzz/fuzz_case.h"

namespace muster {
namespace {

TEST(EventFuzzTest, HostileEventsMakeAHarmlessPage) {
  constexpr std::string_view kPieces[] = {"\n",
                                          "\"",
                                          "{",
                                          "}",
                                          "[",
                                          "]",
                                          "null",
                                          "-1",
                                          "1e308",
                                          "1e-308",
                                          "\\u0000",
                                          "\\u001b[31m",
                                          "<script>",
                                          "<img src=x>",
                                          "\\ud800",
                                          "\xff",
                                          ",",
                                          ":",
                                          "9999999999999999999",
                                          "\"nan\"",
                                          "true",
                                          "&",
                                          "'",
                                          "</title>"};
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(seed);
    RunFuzzCase(DrawnEdits(seed, kPieces,
                           {.max_edits = 6, .places = 2400, .removed = 9}));
  }
}

}  // namespace
}  // namespace muster
