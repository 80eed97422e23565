// Tests of workers that stop reporting progress. Also tests how `launch status`
// shows the workers that report progress.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/harness/cluster.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kReporter[] = "tests/integration/reporting_worker.py";

// Starts a job of three workers: rank 1 hangs, rank 0 keeps reporting, rank 2
// never reports.
std::unique_ptr<Subprocess> Hanging(
    std::vector<std::string> flags,
    std::map<std::string, std::string> environment = {}) {
  std::vector<std::string> argv = {kLaunch, "--standalone",
                                   "--nproc-per-node=3", "--hang-timeout=1",
                                   "--shutdown-timeout=5"};
  argv.insert(argv.end(), flags.begin(), flags.end());
  argv.insert(argv.end(), {kReporter, "hang", "1"});
  environment["NO_COLOR"] = "1";
  return std::make_unique<Subprocess>(argv, std::move(environment));
}

// Returns an environment in which only the stack tools in `folder` are found.
// So no test runs a real debugger, which may time out on a busy machine.
std::map<std::string, std::string> OnlyToolsIn(const std::string& folder) {
  return {{"PATH", folder}, {"PYTHON_EXEC", "/usr/bin/python3"}};
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
  std::string tools = ::testing::TempDir() + "/hang_tools-XXXXXX";
  ASSERT_NE(mkdtemp(tools.data()), nullptr);
  std::ofstream(tools + "/py-spy") << "#!/bin/sh\n"
                                      "echo 'Thread 1 (idle): \"MainThread\"'\n"
                                      "echo '    load_the_batch (spied)'\n";
  ASSERT_EQ(chmod((tools + "/py-spy").c_str(), 0700), 0);
  auto launch = Hanging({"--log-dir=" + logs}, OnlyToolsIn(tools));
  EXPECT_EQ(launch->ExitCode(), 1);
  const std::string output = launch->Output();
  EXPECT_THAT(output, HasSubstr("ROOT CAUSE"));
  EXPECT_THAT(output, HasSubstr("worker       rank 1 (local rank 1), pid "));
  EXPECT_THAT(output, HasSubstr("what         hung\n"));
  EXPECT_THAT(output, HasSubstr("last step 7"));
  EXPECT_THAT(output, HasSubstr("stack        | Python, main thread:\n"));
  EXPECT_THAT(output, HasSubstr("|   load_the_batch (spied)\n"));
  // The agent must print a line about the hang of rank 1. Rank 2 has been
  // silent for longer, but has never reported progress, so its silence is no
  // hang.
  EXPECT_THAT(launch->Lines(" hung: silent for "), Not(IsEmpty()));
  EXPECT_THAT(output, HasSubstr("stopped by us"));
  // The folder of the job's logs is named after a generated run id, so the test
  // looks up its name.
  const std::string round =
      std::filesystem::directory_iterator(logs)->path().string() +
      "/attempt_0/";
  const std::string stack = Contents(round + "1/stack.txt");
  EXPECT_THAT(stack, HasSubstr("=== kernel\nthread "));
  EXPECT_THAT(Contents(round + "0/stack.txt"), HasSubstr("=== kernel\n"));
  EXPECT_THAT(Contents(round + "2/stack.txt"), HasSubstr("=== kernel\n"));
}

// A stack tool kills the worker that it inspects. The cause must still be that
// the worker hung.
TEST(Hang, IsTheCauseEvenIfTheStackToolKillsTheWorker) {
  std::string tools = ::testing::TempDir() + "/hang_killer-XXXXXX";
  ASSERT_NE(mkdtemp(tools.data()), nullptr);
  std::ofstream(tools + "/gdb") << "#!/bin/sh\n"
                                   "while [ \"$1\" != -p ]; do shift; done\n"
                                   "kill -ABRT $2\n";
  ASSERT_EQ(chmod((tools + "/gdb").c_str(), 0700), 0);
  auto launch = Hanging({}, OnlyToolsIn(tools));
  EXPECT_EQ(launch->ExitCode(), 1);
  const std::string output = launch->Output();
  EXPECT_THAT(output, HasSubstr("worker       rank 1 (local rank 1), pid "));
  EXPECT_THAT(output, HasSubstr("what         hung\n"));
}

// Runs the stack tools that are installed on this machine on a worker that
// hangs in Python.
TEST(Hang, IsShownByTheInstalledTools) {
  std::string logs = ::testing::TempDir() + "/hang_real-XXXXXX";
  ASSERT_NE(mkdtemp(logs.data()), nullptr);
  auto launch = Hanging({"--log-dir=" + logs, "--rdzv-id=job"},
                        {{"PYTHON_EXEC", "/usr/bin/python3"}});
  EXPECT_EQ(launch->ExitCode(), 1);
  const std::string output = launch->Output();
  EXPECT_THAT(output, HasSubstr("what         hung\n"));
  EXPECT_THAT(output, Not(HasSubstr("OSError")));
  const bool explained = output.find("no Python frames: ") != std::string::npos;
  const bool shown =
      output.find("stack        | Python, main thread:\n") != std::string::npos;
  EXPECT_NE(explained, shown) << output;
}

// SIGSTOP stops one worker. The other workers wait for it, so all workers stop
// reporting within milliseconds. The stopped worker must be named as the cause.
// The test runs three jobs and stops a different rank in each.
TEST(Hang, OfMutuallyWaitingWorkersTheStoppedOneIsNamed) {
  std::vector<std::unique_ptr<Subprocess>> launches;
  for (int rank = 0; rank < 3; ++rank) {
    std::string folder = ::testing::TempDir() + "/hang_meet-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    launches.push_back(std::make_unique<Subprocess>(
        std::vector<std::string>{kLaunch, "--standalone", "--nproc-per-node=3",
                                 "--hang-timeout=6", "--shutdown-timeout=0.5",
                                 kReporter, "together", folder},
        OnlyToolsIn("/no/tools")));
  }
  for (int rank = 0; rank < 3; ++rank) {
    Subprocess& launch = *launches[rank];
    ASSERT_TRUE(launch.Printed("together rank=", 3)) << launch.Output();
    const auto lines =
        launch.Lines("together rank=" + std::to_string(rank) + " ");
    ASSERT_THAT(lines, SizeIs(1));
    ASSERT_EQ(kill(std::stoi(Field(lines[0], "pid")), SIGSTOP), 0);
  }
  for (int rank = 0; rank < 3; ++rank) {
    Subprocess& launch = *launches[rank];
    EXPECT_EQ(launch.ExitCode(), 1);
    const std::string output = launch.Output();
    const std::string worker = "rank " + std::to_string(rank) +
                               " (local rank " + std::to_string(rank) + ")";
    EXPECT_THAT(output, HasSubstr("worker       " + worker));
    EXPECT_THAT(output, HasSubstr("it is stopped by a signal"));
  }
}

TEST(Progress, IsShownForEachRank) {
  LocalCluster cluster(kReporter);
  auto node = cluster.Node(
      {"--nproc-per-node=2", "--rdzv-conf=is_host=0,keep_alive_interval=0.2"},
      {"steady"});
  ASSERT_TRUE(node->Printed("up rank=", 2)) << node->Output();
  const auto end = std::chrono::steady_clock::now() + kEventTimeout;
  std::string shown;
  // Repeat `launch status` until it shows both workers at a moment when both
  // have reported recently.
  do {
    auto status = cluster.Command({"status", "job"});
    ASSERT_EQ(status->ExitCode(), 0) << status->Output();
    shown = status->Output();
  } while ((shown.find("102k tokens/s") == std::string::npos ||
            shown.find("  7     2.5   51000     0.") == std::string::npos) &&
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
