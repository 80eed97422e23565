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

// Returns a fuzz input: a byte that selects a valid host list, and one to three
// random edits of it. Each edit inserts a piece of a host list.
std::string Input(uint64_t seed) {
  constexpr std::string_view kPieces[] = {
      "[", "]",  "-",  ",",    "[1-9]", "0",  "99999", "n",
      "[", "]]", "--", "\xff", "[0-1",  "00", "",      " "};
  return static_cast<char>(seed % 4) +
         DrawnEdits(seed, kPieces, {.places = 32, .removed = 3});
}

TEST(HostListFuzzTest, AcceptedListsAreBounded) {
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(seed);
    RunFuzzCase(Input(seed));
  }
}

}  // namespace
}  // namespace muster
