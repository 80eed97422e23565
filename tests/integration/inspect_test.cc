// Tests of `launch inspect` with the files of a round that ended because a
// worker was killed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>

#include "tests/integration/harness/cluster.h"

namespace muster {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kDying[] = "tests/integration/dying_collective_worker";

// Removes the line breaks that `launch` inserts to fit the text to the
// terminal's width.
std::string Unwrapped(const std::string& text) {
  return std::regex_replace(text, std::regex("\n {8}"), " ");
}

class Inspect : public ::testing::Test {
 protected:
  Inspect() {
    std::string pattern = ::testing::TempDir() + "/inspectXXXXXX";
    logs_ = mkdtemp(pattern.data());
  }
  ~Inspect() override { std::filesystem::remove_all(logs_); }
  std::string logs_;
};

TEST_F(Inspect, NamesTheRankKilledInAnOperationOfAllRanks) {
  Subprocess launch({kLaunch, "--standalone", "--nproc-per-node=3",
                     "--shutdown-timeout=1", "--log-dir=" + logs_, kDying});
  EXPECT_EQ(launch.ExitCode(), 128 + SIGKILL) << launch.Output();
  // The log folder is named after a generated run id, so its name must be
  // looked up.
  const std::string run =
      std::filesystem::directory_iterator(logs_)->path().string();
  Subprocess inspect({kLaunch, "inspect", run + "/attempt_0"},
                     {{"NO_COLOR", "1"}, {"COLUMNS", "80"}});
  EXPECT_EQ(inspect.ExitCode(), 1);
  const std::string text = Unwrapped(inspect.Output());
  EXPECT_THAT(text, HasSubstr("Flight recorders of 3 of 3 ranks, 1 group\n"));
  EXPECT_THAT(
      text,
      ContainsRegex(" FOUND  rank 1 \\([^ ]+, pid [0-9]+\\) died in all_reduce "
                    "#2 of 8388608 float32 \\(33554432 bytes\\), sum in group "
                    "world: killed by SIGKILL \\(9\\)"));
  EXPECT_THAT(inspect.Lines(" FOUND "), SizeIs(1)) << text;
  EXPECT_THAT(text, HasSubstr(" THEN   ranks 0, 2 were stopped by Muster"));
  EXPECT_THAT(text, ContainsRegex(" 1 +all_reduce #2 .* then died\n"));
  EXPECT_THAT(text, Not(HasSubstr("behind")));
}

}  // namespace
}  // namespace muster
