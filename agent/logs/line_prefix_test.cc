#include "agent/logs/line_prefix.h"

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

const LineOwner kOwner = {
    .role = "trainer", .host = "n7", .rank = 11, .local_rank = 3};

TEST(LinePrefixTest, WithoutATemplateItNamesHostAndRank) {
  EXPECT_EQ(LinePrefix("", kOwner), "[n7:11] ");
}

TEST(LinePrefixTest, ATemplatesNamesAreReplaced) {
  EXPECT_EQ(LinePrefix("[${role_name}${local_rank}]:", kOwner), "[trainer3]:");
  EXPECT_EQ(LinePrefix("${hostname}:$rank: ", kOwner), "n7:11: ");
  EXPECT_EQ(LinePrefix("[${rank}]:", kOwner), "[11]:");
}

// The results equal those of Python's string.Template.safe_substitute.
TEST(LinePrefixTest, AnythingElseStaysAsItIs) {
  EXPECT_EQ(LinePrefix("$$rank ${rank $ranks ${nosuch} $", kOwner),
            "$rank ${rank $ranks ${nosuch} $");
  EXPECT_EQ(LinePrefix("${}$1rank", kOwner), "${}$1rank");
}

TEST(LinePrefixTest, NothingMovesTheTerminalsCursor) {
  EXPECT_EQ(LinePrefix("a\nb\x1b[2J$rank", kOwner), "ab11");
}

}  // namespace
}  // namespace muster::agent
