// Runs the fuzz target with pseudo-random inputs from fixed seeds, so that
// every test run has the same inputs.

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "tests/fuzz/edited_bytes.h"
#include "tests/fuzz/fuzz_case.h"

namespace muster {
namespace {

TEST(FrontFuzzTest, ConnectionsInAnyOrderKeepTheLimits) {
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::string input(1, '\0');
    for (int i = 0; i < 400; ++i) input.push_back(static_cast<char>(random()));
    RunFuzzCase(input);
  }
}

TEST(FrontFuzzTest, HostileRequestsGetWholeAnswersOrNone) {
  constexpr std::string_view kPieces[] = {"GET ",   "HEAD ",   "POST ",
                                          "/livez", "/readyz", "?",
                                          "%2e",    " ",       "\r\n",
                                          "\n",     "\r",      ":",
                                          "HTTP/",  "1.1",     "2.0",
                                          "9",      "-1",      "ffffffffff",
                                          "\xff",   "chunked", "Content-Length",
                                          "Expect", "Upgrade", "\t"};
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    const std::string kind = {2, static_cast<char>(seed % 5),
                              static_cast<char>(seed % 64)};
    RunFuzzCase(kind + DrawnEdits(seed, kPieces, {.places = 96}));
  }
}

TEST(FrontFuzzTest, EndpointsAreTheSameWhenWrittenAgain) {
  constexpr std::string_view kPieces[] = {"[", "]",  ":",     "::", "%",
                                          "a", "0",  "65536", "/",  " ",
                                          "-", "\n", "\xff",  ".",  "ffff:"};
  for (uint64_t seed = 1; seed <= 5000; ++seed) {
    SCOPED_TRACE(seed);
    RunFuzzCase("\x03" + DrawnEdits(seed, kPieces, {.places = 32}));
  }
}

}  // namespace
}  // namespace muster
