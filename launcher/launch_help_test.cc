#include "launcher/launch_help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "launcher/options/flag_table.h"

namespace muster::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

void ExpectFits(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80u) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
  }
  EXPECT_TRUE(text.ends_with("\n"));
}

TEST(LaunchHelp, FitsIntoEightyColumns) {
  ExpectFits(LaunchHelp());
  ExpectFits(AdminHelp());
}

TEST(LaunchHelp, NamesEveryFlagOnce) {
  const std::string help = LaunchHelp();
  for (const Flag& flag : FlagsOf(FlagUser::kLaunchOnly)) {
    std::string heading = std::string("--") + flag.name;
    if (!flag.IsSwitch()) {
      heading += std::string(" ") + flag.value;
    }
    heading += "\n";
    const size_t first = help.find(heading);
    ASSERT_NE(first, std::string::npos) << flag.name;
    EXPECT_EQ(help.find(heading, first + 1), std::string::npos) << flag.name;
  }
}

TEST(LaunchHelp, BeginsWithUsageAndEndsWithExitStatus) {
  const std::string help = LaunchHelp();
  EXPECT_THAT(help, StartsWith("launch: run a job's workers"));
  EXPECT_THAT(help, HasSubstr("\nUsage:\n  launch [FLAGS] PROGRAM"));
  EXPECT_LT(help.find("\nNodes and where they meet:\n"),
            help.find("\nExamples:\n"));
  EXPECT_LT(help.find("\nExamples:\n"), help.find("\nExit status:\n"));
}

TEST(LaunchHelp, ALongExampleCanBePasted) {
  EXPECT_THAT(LaunchHelp(), HasSubstr(" \\\n      "));
}

}  // namespace
}  // namespace muster::launcher
