#include "launcher/ssh/host_console.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(ShownLine, NothingIsPrefixedTwice) {
  EXPECT_EQ(ShownLine("[n:3] loss", "h"), "[n:3] loss");
  EXPECT_EQ(ShownLine("launch: joined", "h"), "launch: h: joined");
  EXPECT_EQ(ShownLine("Segmentation fault", "h"), "[h] Segmentation fault");
  EXPECT_EQ(ShownLine("", "h"), "[h] ");
}

TEST(ShownLine, MovesNoCursor) {
  EXPECT_EQ(ShownLine("[n:0] a\x1b[2Jb\x07\x1b]0;t\x07", "h"), "[n:0] ab");
}

}  // namespace
}  // namespace muster
