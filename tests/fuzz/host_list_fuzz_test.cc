// The fuzzer's case with inputs from seeds, so that every run of the tests does
// the same.

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

#include "tests/fuzz/host_list_fuzz_case.h"

namespace muster {
namespace {

// One to three edits that put pieces of lists somewhere.
std::string Input(uint64_t seed) {
  constexpr std::string_view kPieces[] = {
      "[", "]",  "-",  ",",    "[1-9]", "0",  "99999", "n",
      "[", "]]", "--", "\xff", "[0-1",  "00", "",      " "};
  std::mt19937_64 random(seed);
  std::string input(1, static_cast<char>(seed % 4));
  for (uint64_t edits = 1 + random() % 3; edits > 0; --edits) {
    const std::string_view piece = kPieces[random() % std::size(kPieces)];
    input.push_back('\0');
    input.push_back(static_cast<char>(random() % 32));
    input.push_back(static_cast<char>(random() % 3));
    input.push_back(static_cast<char>(piece.size()));
    input += piece;
  }
  return input;
}

TEST(HostListFuzzTest, NothingUnboundedIsRead) {
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(seed);
    RunHostListFuzzCase(Input(seed));
  }
}

}  // namespace
}  // namespace muster
