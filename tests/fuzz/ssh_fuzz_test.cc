// The fuzzer's case with inputs from seeds, so that every run of the tests does
// the same.

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

#include "tests/fuzz/ssh_fuzz_case.h"

namespace muster {
namespace {

// One to three edits that put pieces of host files and messages somewhere.
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
  std::mt19937_64 random(seed);
  std::string input;
  for (uint64_t edits = 1 + random() % 3; edits > 0; --edits) {
    const std::string_view piece = kPieces[random() % std::size(kPieces)];
    input.push_back('\0');
    input.push_back(static_cast<char>(random()));
    input.push_back(static_cast<char>(random() % 5));
    input.push_back(static_cast<char>(piece.size()));
    input += piece;
  }
  return input;
}

TEST(SshFuzzTest, NothingUnsoundIsRead) {
  for (uint64_t seed = 1; seed <= 20000; ++seed) {
    SCOPED_TRACE(seed);
    RunSshFuzzCase(Input(seed));
  }
}

}  // namespace
}  // namespace muster
