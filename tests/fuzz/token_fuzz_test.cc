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

// Returns a fuzz input: a byte that selects what is parsed (a token, a
// certificate, a private key, ...), and one to three edits, each of which
// inserts one of the pieces below.
std::string Input(uint64_t seed) {
  constexpr std::string_view kPieces[] = {std::string_view("\0", 1),
                                          "\x01",
                                          "\x02\x01",
                                          "\x04\x04",
                                          "\x0c\x03",
                                          "\x16\x02",
                                          "\x1e\x04",
                                          "\x30\x03",
                                          "\x30\x80",
                                          "\x80",
                                          "\x82\x01",
                                          "\x86\x05",
                                          "\x87\x04",
                                          "\xff",
                                          "\n",
                                          "\x1b[2J",
                                          "A",
                                          "=",
                                          "-----BEGIN",
                                          "-----END",
                                          "muster:",
                                          "role/",
                                          "job/*",
                                          "-*",
                                          "*."};
  return static_cast<char>(seed % 256) +
         DrawnEdits(seed, kPieces, {.places = 700});
}

TEST(TokenFuzzTest, DamagedTokensAndCertificatesAreRefusedOrHarmless) {
  for (uint64_t seed = 1; seed <= 6000; ++seed) {
    SCOPED_TRACE(seed);
    RunFuzzCase(Input(seed));
  }
}

}  // namespace
}  // namespace muster
