// Runs the fuzz target with pseudo-random inputs from fixed seeds, so that
// every test run has the same inputs. Also tests headers that would need much
// memory.

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/edited_bytes.h"
#include "tests/fuzz/fuzz_case.h"
#include "trainer_sdk/safetensors/safetensors_header.h"

namespace muster {
namespace {

// Returns a fuzz input: a byte that selects a valid file, and one to three
// random edits of it. Each edit inserts a piece of a header or a manifest.
std::string Input(uint64_t seed) {
  constexpr std::string_view kPieces[] = {
      "{",    "}",    "[",      "]",    "\"",
      ":",    ",",    "0",      "1",    "-1",
      "9999", "1e3",  "\"a\":", "F32",  "\"dtype\":",
      "null", "true", "\xff",   "[[[[", "9223372036854775807",
      " ",    "\\",   "",       "\0",   "\"shape\":[2],"};
  return static_cast<char>(seed % 4) +
         DrawnEdits(seed, kPieces, {.places = 512, .removed = 4});
}

TEST(CheckpointFuzzTest, InvalidInputIsRejected) {
  for (uint64_t seed = 1; seed <= 8000; ++seed) {
    SCOPED_TRACE(seed);
    RunFuzzCase(Input(seed));
  }
}

// Memory that this process has allocated with malloc, in bytes. A sanitizer's
// allocator is not counted.
size_t BytesInUse() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(CheckpointFuzzTest, MemoryIsProportionalToTheHeader) {
  // Build a header of 2 MB that contains as many tensors as possible, each with
  // the shortest possible description.
  std::string json = "{";
  int tensors = 0;
  while (json.size() < 2'000'000) {
    if (tensors > 0) json += ",";
    json += "\"" + std::to_string(tensors++) +
            "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}";
  }
  json += "}";
  const size_t before = BytesInUse();
  {
    const auto header = ParseSafetensorsHeader(json, 0);
    ASSERT_TRUE(header.ok()) << header.status();
    EXPECT_EQ(header->tensors.size(), static_cast<size_t>(tensors));
    EXPECT_LT(BytesInUse() - before, 8 * json.size());
  }
  EXPECT_LT(BytesInUse(), before + json.size() / 4) << "some is never freed";
}

TEST(CheckpointFuzzTest, ARejectedHeaderLeavesNoMemoryAllocated) {
  const size_t before = BytesInUse();
  for (const char* beginning :
       {"[", "{\"a\":{\"shape\":[", "{\"n", "{\"a\":{\"dtype\":\"F"}) {
    std::string json = beginning;
    json.append(2'000'000, json.back());
    EXPECT_FALSE(ParseSafetensorsHeader(json, 0).ok()) << beginning;
  }
  EXPECT_LT(BytesInUse(), before + 1'000'000);
}

}  // namespace
}  // namespace muster
