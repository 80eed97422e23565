#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "launcher/options/flag_table.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {
namespace {

using ::testing::StartsWith;

absl::StatusOr<ParsedOptions> Parse(std::vector<std::string> args) {
  args.emplace_back("train.py");
  return ParseRunOptions(FlagsOf(FlagUser::kLaunchOnly), args, {});
}

std::string Error(std::vector<std::string> args) {
  return std::string(Parse(std::move(args)).status().message());
}

TEST(StdinOption, ARankReadsIt) {
  const absl::StatusOr<ParsedOptions> parsed = Parse({"--stdin=1"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->options.input.rank, 1);
}

TEST(StdinOption, AnythingElseThanARankIsRefused) {
  EXPECT_THAT(Error({"--stdin=first"}),
              StartsWith("--stdin=first: is no rank"));
}

TEST(StdinOption, AgentsThatAreStartedFromHereHaveNone) {
  EXPECT_THAT(Error({"--slurm", "--stdin=0"}),
              StartsWith("--stdin=0: the agents that --hostfile and --slurm "
                         "start have no stdin"));
}

}  // namespace
}  // namespace muster::launcher
