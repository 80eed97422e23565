#include "base/checksum.h"

#include <xxhash.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/checksum_avx2.h"
#include "base/processor_kind.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

std::string Bytes(size_t size) {
  std::string bytes(size, '\0');
  uint32_t state = 1;
  for (char& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

TEST(ChecksumTest, IsXxh3OfAllPiecesTogether) {
  const std::string bytes = Bytes(20000);
  for (const size_t piece : {1, 7, 64, 255, 256, 257, 1024, 20000}) {
    Checksum checksum;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      checksum.Add(std::string_view(bytes).substr(at, piece));
    }
    EXPECT_EQ(checksum.value(), XXH3_64bits(bytes.data(), bytes.size()))
        << piece;
  }
}

TEST(ChecksumTest, TheWideVariantHasTheSameValues) {
  const auto kinds = ProcessorKinds();
  if (std::find(kinds.begin(), kinds.end(), ProcessorKind::kAvx2) ==
      kinds.end()) {
    GTEST_SKIP() << "this processor has no AVX2";
  }
  const std::string bytes = Bytes(5000);
  XXH3_state_t* const state = XXH3_createState();
  for (size_t size = 0; size <= bytes.size(); ++size) {
    XXH3_64bits_reset(state);
    AddToXxh3WithAvx2(state, bytes.data(), size / 3);
    AddToXxh3WithAvx2(state, bytes.data() + size / 3, size - size / 3);
    EXPECT_EQ(XXH3_64bits_digest(state), XXH3_64bits(bytes.data(), size))
        << size;
  }
  XXH3_freeState(state);
}

// The checksum of given bytes must be the same in every version, because
// existing checkpoints contain checksums.
TEST(ChecksumTest, ValuesStayWhatTheyWere) {
  Checksum checksum;
  EXPECT_EQ(ChecksumText(checksum.value()), "2d06800538d394c2");
  checksum.Add("muster");
  EXPECT_EQ(checksum.value(), XXH3_64bits("muster", 6));
}

}  // namespace
}  // namespace muster
