#include "nccl/unique_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace muster::nccl {
namespace {

using ::testing::StartsWith;

TEST(NcclUniqueIdTest, ComesBackFromItsDigits) {
  NcclUniqueId id;
  std::iota(id.internal, id.internal + kNcclUniqueIdBytes, -64);
  const std::string hex = HexOf(id);
  EXPECT_EQ(hex.size(), 256u);
  EXPECT_THAT(hex, StartsWith("c0c1c2"));
  const auto back = NcclUniqueIdOf(hex);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(HexOf(*back), hex);
}

TEST(NcclUniqueIdTest, RefusesInvalidIds) {
  const std::string zeros(256, '0');
  EXPECT_TRUE(NcclUniqueIdOf(zeros).ok());
  for (std::string wrong :
       {std::string(), zeros.substr(1), zeros + "0", "G" + zeros.substr(1),
        "A" + zeros.substr(1), std::string(1, '\0') + zeros.substr(1)}) {
    EXPECT_TRUE(absl::IsInvalidArgument(NcclUniqueIdOf(wrong).status()));
  }
}

}  // namespace
}  // namespace muster::nccl
