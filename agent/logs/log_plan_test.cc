#include "agent/logs/log_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

StreamSet For(const std::string& text, int local_rank) {
  absl::StatusOr<StreamsByRank> parsed = ParseStreamsByRank(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.ok() ? parsed->For(local_rank) : StreamSet::kNone;
}

TEST(ParseStreamsByRankTest, SingleDigitAppliesToEveryRank) {
  EXPECT_EQ(For("0", 7), StreamSet::kNone);
  EXPECT_EQ(For("1", 7), StreamSet::kOut);
  EXPECT_EQ(For("2", 7), StreamSet::kErr);
  EXPECT_EQ(For(" 3 ", 7), StreamSet::kBoth);
}

TEST(ParseStreamsByRankTest, RanksThatAreNotNamedHaveNone) {
  EXPECT_EQ(For("0:1,1:2,12:3", 0), StreamSet::kOut);
  EXPECT_EQ(For("0:1,1:2,12:3", 1), StreamSet::kErr);
  EXPECT_EQ(For("0:1, 1:2, 12:3", 12), StreamSet::kBoth);
  EXPECT_EQ(For("0:1,1:2,12:3", 2), StreamSet::kNone);
}

TEST(ParseStreamsByRankTest, NamesThePartThatItCannotRead) {
  struct {
    const char* text;
    const char* message;
  } const kCases[] = {
      {"", "'' is neither 0 to 3"},
      {"4", "'4' is neither"},
      {"out", "'out' is neither"},
      {"0:1,2", "'2' is neither"},
      {"0:1,", "'' is neither"},
      {"0:4", "'0:4' does not end in 0, 1, 2 or 3"},
      {"0:12", "'0:12' does not end in"},
      {"x:1", "'x:1' does not begin with a local rank"},
      {"-1:1", "'-1:1' does not begin with"},
      {"99999999999:1", "does not begin with"},
      {"1:1,1:2", "'1:2' names a local rank for the second time"},
  };
  for (const auto& c : kCases) {
    absl::Status status = ParseStreamsByRank(c.text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.message));
    EXPECT_THAT(std::string(status.message()), HasSubstr("0:1,1:2"));
  }
}

TEST(ContainsTest, BothContainsEach) {
  EXPECT_TRUE(Contains(StreamSet::kBoth, StreamSet::kOut));
  EXPECT_TRUE(Contains(StreamSet::kBoth, StreamSet::kErr));
  EXPECT_TRUE(Contains(StreamSet::kErr, StreamSet::kErr));
  EXPECT_FALSE(Contains(StreamSet::kErr, StreamSet::kOut));
  EXPECT_FALSE(Contains(StreamSet::kNone, StreamSet::kOut));
}

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
