// A worker falls silent; and what those who report look like to an operator.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/integration/harness/cluster.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kReporter[] = "tests/integration/reporting_worker.py";

// Rank 1 hangs; rank 0 reports on; rank 2 never does.
std::unique_ptr<Subprocess> Hanging(std::vector<std::string> flags) {
  std::vector<std::string> argv = {kLaunch, "--standalone",
                                   "--nproc-per-node=3", "--hang-timeout=1",
                                   "--shutdown-timeout=5"};
  argv.insert(argv.end(), flags.begin(), flags.end());
  argv.insert(argv.end(), {kReporter, "hang", "1"});
  return std::make_unique<Subprocess>(
      argv, std::map<std::string, std::string>{{"NO_COLOR", "1"}});
}

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Hang, IsNamedAndTheRoundIsRestarted) {
  auto launch = Hanging({"--max-restarts=1"});
  EXPECT_EQ(launch->ExitCode(), 0) << launch->Output();
  EXPECT_THAT(launch->Lines("round=2"), SizeIs(3));
  const auto hung = launch->Lines(" hung: silent for ");
  ASSERT_THAT(hung, SizeIs(1));
  EXPECT_THAT(hung[0], HasSubstr("rank 1 (local rank 1, pid "));
  EXPECT_THAT(hung[0], HasSubstr("(its deadline is 1 s), last step 7"));
}

TEST(Hang, IsTheVerdictsCauseWithItsStack) {
  std::string logs = ::testing::TempDir() + "/hang_logs-XXXXXX";
  ASSERT_NE(mkdtemp(logs.data()), nullptr);
  auto launch = Hanging({"--log-dir=" + logs});
  EXPECT_EQ(launch->ExitCode(), 1);
  const std::string output = launch->Output();
  EXPECT_THAT(output, HasSubstr("ROOT CAUSE"));
  EXPECT_THAT(output, HasSubstr("worker       rank 1 (local rank 1), pid "));
  EXPECT_THAT(output, HasSubstr("what         hung\n"));
  EXPECT_THAT(output, HasSubstr("last step 7"));
  EXPECT_THAT(output, HasSubstr("stack        | "));
  // The others are no causes, however long rank 2 has said nothing.
  EXPECT_THAT(launch->Lines(" hung: silent for "), Not(IsEmpty()));
  EXPECT_THAT(output, HasSubstr("stopped by us"));
  // Its run id is a fresh one.
  const std::string round =
      std::filesystem::directory_iterator(logs)->path().string() +
      "/attempt_0/";
  const std::string stack = Contents(round + "1/stack.txt");
  EXPECT_THAT(stack, HasSubstr("=== kernel\nthread "));
  EXPECT_THAT(Contents(round + "0/stack.txt"), HasSubstr("=== kernel\n"));
  EXPECT_THAT(Contents(round + "2/stack.txt"), HasSubstr("=== kernel\n"));
  const bool has_gdb = std::system("command -v gdb >/dev/null") == 0;
  if (has_gdb && stack.find("ptrace: ") == std::string::npos) {
    EXPECT_THAT(output, HasSubstr("in load_the_batch"));
  }
}

TEST(Progress, IsShownForEachRank) {
  Cluster cluster(kReporter);
  auto node = cluster.Node(
      {"--nproc-per-node=2", "--rdzv-conf=is_host=0,keep_alive_interval=0.2"},
      {"steady"});
  ASSERT_TRUE(node->Printed("up rank=", 2)) << node->Output();
  const auto end = std::chrono::steady_clock::now() + kPatience;
  std::string shown;
  do {
    auto status = cluster.Command({"status", "job"});
    ASSERT_EQ(status->ExitCode(), 0) << status->Output();
    shown = status->Output();
  } while (shown.find("102000 tokens/s") == std::string::npos &&
           shown.find("102k tokens/s") == std::string::npos &&
           std::chrono::steady_clock::now() < end);
  EXPECT_THAT(shown, HasSubstr("progress     step 7; loss 2.5; 102k tokens/s"));
  EXPECT_THAT(shown, HasSubstr("RANK  HOST"));
  EXPECT_THAT(shown, HasSubstr("  7     2.5   51000     0."));
  auto json = cluster.Command({"status", "job", "--json"});
  EXPECT_EQ(json->ExitCode(), 0);
  EXPECT_THAT(json->Output(), HasSubstr("\"step\": 7"));
  EXPECT_EQ(cluster.Command({"cancel", "job"})->ExitCode(), 0);
  EXPECT_EQ(node->ExitCode(), 128 + 15);
}

}  // namespace
}  // namespace muster
