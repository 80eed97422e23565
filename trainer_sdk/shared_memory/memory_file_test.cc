#include "trainer_sdk/shared_memory/memory_file.h"

#include <cstdint>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

TEST(AvailableIn, IsMemoryAndSwap) {
  EXPECT_EQ(AvailableIn("MemTotal:  100 kB\nMemAvailable:   20 kB\n"
                        "SwapFree:  3 kB\n"),
            23 * 1024);
  EXPECT_EQ(AvailableIn("MemAvailable:   20 kB\n"), 20 * 1024);
}

TEST(AvailableIn, IsUnknownWithoutItsLine) {
  EXPECT_EQ(AvailableIn(""), std::nullopt);
  EXPECT_EQ(AvailableIn("SwapFree: 3 kB\nMemAvailable: much\n"), std::nullopt);
}

TEST(GroupIn, FindsAController) {
  const std::string cgroups = "4:cpu,memory:/a:b\n1:name=systemd:/\n0::/c/d\n";
  EXPECT_EQ(GroupIn(cgroups, "memory"), "/a:b");
  EXPECT_EQ(GroupIn(cgroups, ""), "/c/d");
  EXPECT_EQ(GroupIn(cgroups, "pids"), std::nullopt);
  EXPECT_EQ(GroupIn("0::\nnonsense", ""), std::nullopt);
}

TEST(CheckMemoryRoom, RefusesMoreThanThereIsAndSaysSo) {
  EXPECT_TRUE(CheckMemoryRoom(1).ok());
  const absl::Status room =
      CheckMemoryRoom(std::numeric_limits<int64_t>::max());
  EXPECT_EQ(room.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(room.message()), testing::HasSubstr("the host has"));
}

}  // namespace
}  // namespace muster
