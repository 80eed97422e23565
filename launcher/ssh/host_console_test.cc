#include "launcher/ssh/host_console.h"

#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

TEST(ShownLine, LinesWithAPrefixGetNoSecondOne) {
  EXPECT_EQ(ShownLine("[n:3] loss", "h", "launch: "), "[n:3] loss");
  EXPECT_EQ(ShownLine("launch: joined", "h", "launch: "), "launch: h: joined");
  EXPECT_EQ(ShownLine("deepspeed: joined", "h", "deepspeed: "),
            "deepspeed: h: joined");
  EXPECT_EQ(ShownLine("Segmentation fault", "h", "launch: "),
            "[h] Segmentation fault");
  EXPECT_EQ(ShownLine("", "h", "launch: "), "[h] ");
}

TEST(ShownLine, CursorSequencesAreRemoved) {
  EXPECT_EQ(ShownLine("[n:0] a\x1b[2Jb\x07\x1b]0;t\x07", "h", "launch: "),
            "[n:0] ab");
}

}  // namespace
}  // namespace muster::launcher
