// Tests that jobs continue while the `launch` that hosts their coordinator is
// killed and started again with its saved state (--state-dir).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/free_port.h"
#include "tests/integration/harness/cluster.h"
#include "tests/integration/harness/subprocess.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Program = std::unique_ptr<Subprocess>;

Program Launch(std::vector<std::string> words) {
  words.insert(words.begin(), kLaunch);
  return std::make_unique<Subprocess>(
      words, std::map<std::string, std::string>{{"NO_COLOR", "1"}});
}

// Starts nodes with the same --state-dir; the first one hosts the coordinator.
class HostRestart : public ::testing::Test {
 protected:
  HostRestart() {
    folder_ = testing::TempDir() + "state-XXXXXX";
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  ~HostRestart() override { std::filesystem::remove_all(folder_); }

  Program Node(std::vector<std::string> flags, std::vector<std::string> deed,
               const std::string& run_id = "job") {
    flags.push_back("--rdzv-endpoint=" + endpoint_);
    flags.push_back("--rdzv-id=" + run_id);
    flags.push_back("--state-dir=" + folder_);
    flags = WithMixedNodes(std::move(flags));
    flags.emplace_back(kWorker);
    flags.insert(flags.end(), deed.begin(), deed.end());
    return Launch(std::move(flags));
  }

  static void Kill(Subprocess& node) {
    node.Signal(SIGKILL);
    ASSERT_EQ(node.ExitCode(), 128 + SIGKILL) << node.Output();
  }

  std::string folder_;
  std::string endpoint_ = "127.0.0.1:" + std::to_string(FreePort());
};

TEST_F(HostRestart, TheOtherNodesGoOnAndTheJobSucceeds) {
  const auto flags = [](int rank) -> std::vector<std::string> {
    return {"--nnodes=3", "--max-restarts=2",
            "--node-rank=" + std::to_string(rank)};
  };
  const std::vector<std::string> deed = {"succeed-in", "3"};
  Program host = Node(flags(0), deed);
  ASSERT_TRUE(host->Printed("1 of 3 nodes")) << host->Output();
  std::vector<Program> others;
  others.push_back(Node(flags(1), deed));
  others.push_back(Node(flags(2), deed));
  for (const Program& node : others) {
    ASSERT_TRUE(node->Printed("round=1")) << node->Output();
  }
  ASSERT_TRUE(host->Printed("round=1")) << host->Output();
  kill(WorkerPids(*others[0], 1).at(0), SIGSEGV);
  for (const Program& node : others) {
    ASSERT_TRUE(node->Printed("round=2")) << node->Output();
  }
  ASSERT_TRUE(host->Printed("round=2")) << host->Output();
  const pid_t worker = WorkerPids(*host, 2).at(0);
  Kill(*host);
  EXPECT_TRUE(IsGone(worker));

  Program again = Node(flags(0), deed);
  EXPECT_EQ(again->ExitCode(), 0) << again->Output();
  EXPECT_THAT(again->Output(), HasSubstr("goes on with job job of " + folder_ +
                                         ": round 2, 1 of 2 restarts used"));
  EXPECT_THAT(again->Lines("up rank="), SizeIs(1));
  EXPECT_THAT(again->Lines("up rank=0 local=0 round=3"), SizeIs(1))
      << again->Output();
  EXPECT_THAT(again->Lines("restart=1"), SizeIs(1)) << again->Output();
  for (const Program& node : others) {
    EXPECT_EQ(node->ExitCode(), 0) << node->Output();
    EXPECT_THAT(node->Lines("up rank="), SizeIs(3)) << node->Output();
    EXPECT_THAT(node->Lines("round=3"), SizeIs(1)) << node->Output();
  }
}

TEST_F(HostRestart, TheBudgetIsNotForgotten) {
  const std::vector<std::string> flags = {"--nnodes=2", "--max-restarts=1"};
  Program host = Node(flags, {"forever"});
  ASSERT_TRUE(host->Printed("1 of 2 nodes")) << host->Output();
  Program other = Node(flags, {"forever"});
  ASSERT_TRUE(other->Printed("round=1")) << other->Output();
  kill(WorkerPids(*other, 1).at(0), SIGSEGV);
  ASSERT_TRUE(host->Printed("round=2")) << host->Output();
  Kill(*host);
  host = Node(flags, {"forever"});
  ASSERT_TRUE(other->Printed("round=3")) << other->Output();
  kill(WorkerPids(*other, 3).at(0), SIGSEGV);
  EXPECT_EQ(other->ExitCode(), 128 + SIGSEGV) << other->Output();
  EXPECT_EQ(host->ExitCode(), 128 + SIGSEGV) << host->Output();
  EXPECT_THAT(host->Lines("round=4"), IsEmpty());
}

TEST_F(HostRestart, AfterItsEndTheSameCommandBeginsANewJob) {
  for (const std::string run_id : {"job", "job", "another"}) {
    Program node = Node({"--nnodes=1"}, {}, run_id);
    EXPECT_EQ(node->ExitCode(), 0) << node->Output();
    EXPECT_THAT(node->Lines("round=1"), SizeIs(1)) << node->Output();
    EXPECT_THAT(node->Output(), Not(HasSubstr("goes on")));
  }
}

TEST_F(HostRestart, AnotherJobIsRefusedAndChangesNothing) {
  Program node = Node({"--nnodes=1"}, {"succeed-in", "2"});
  ASSERT_TRUE(node->Printed("round=1")) << node->Output();
  Kill(*node);
  Program stranger = Node({"--nnodes=1"}, {}, "another");
  EXPECT_EQ(stranger->ExitCode(), 1);
  EXPECT_THAT(stranger->Output(),
              HasSubstr("launch: --state-dir: cannot use " + folder_ +
                        ": it holds job \"job\", and this is job "
                        "\"another\"; name another folder"));
  EXPECT_THAT(stranger->Lines(""), SizeIs(1)) << stranger->Output();
  Program again = Node({"--nnodes=1"}, {"succeed-in", "2"});
  EXPECT_EQ(again->ExitCode(), 0) << again->Output();
  EXPECT_THAT(again->Lines("round=2"), SizeIs(1)) << again->Output();
}

TEST_F(HostRestart, AFolderThatCannotBeUsedStartsNoWorker) {
  Program node = Node({"--nnodes=1"}, {"forever"});
  ASSERT_TRUE(node->Printed("round=1")) << node->Output();
  endpoint_ = "127.0.0.1:" + std::to_string(FreePort());
  Program second = Node({"--nnodes=1"}, {});
  EXPECT_EQ(second->ExitCode(), 1);
  EXPECT_THAT(second->Output(),
              HasSubstr("in use by process " + std::to_string(node->pid())));
  EXPECT_THAT(second->Lines(""), SizeIs(1)) << second->Output();
  node->Signal(SIGTERM);
  EXPECT_EQ(node->ExitCode(), 128 + SIGTERM) << node->Output();

  std::filesystem::remove_all(folder_);
  std::filesystem::create_directory(folder_);
  std::ofstream(folder_ + "/coordinator.journal") << std::string(8192, 'x');
  std::filesystem::permissions(folder_ + "/coordinator.journal",
                               std::filesystem::perms::owner_all);
  Program third = Node({"--nnodes=1"}, {});
  EXPECT_EQ(third->ExitCode(), 1);
  EXPECT_THAT(third->Output(), HasSubstr("it is not an SQLite database"));
  EXPECT_THAT(third->Lines(""), SizeIs(1)) << third->Output();
}

TEST_F(HostRestart, ALoneNodeGoesOnInItsLogFolder) {
  namespace fs = std::filesystem;
  const std::string logs = folder_ + "/logs";
  const std::vector<std::string> flags = {"--state-dir=" + folder_ + "/state",
                                          "--log-dir=" + logs};
  Program node = Standalone(flags, {"succeed-in", "2"});
  ASSERT_TRUE(node->Printed("round=1")) << node->Output();
  const std::string run = fs::read_symlink(logs + "/latest");
  Kill(*node);
  Program again = Standalone(flags, {"succeed-in", "2"});
  EXPECT_EQ(again->ExitCode(), 0) << again->Output();
  EXPECT_THAT(again->Lines("round=2"), SizeIs(1)) << again->Output();
  EXPECT_EQ(fs::read_symlink(logs + "/latest"), run);
  std::ifstream file(logs + "/latest/events.jsonl");
  const std::string events{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(events, HasSubstr("round 1 begins"));
  EXPECT_THAT(events, HasSubstr("round 2 begins"));
  EXPECT_THAT(events, HasSubstr("it hosted the coordinator"));
}

// After the verdict, the node that hosts the coordinator keeps running, because
// another node hangs. The host is then killed and started again, and must
// report the same verdict.
class HostRestartAtTheEnd
    : public HostRestart,
      public ::testing::WithParamInterface<std::vector<std::string>> {};

TEST_P(HostRestartAtTheEnd, AVerdictIsToldAgain) {
  const std::string conf =
      "--rdzv-conf=close_timeout=60,keep_alive_interval=0.2,"
      "keep_alive_max_attempt=25,last_call_timeout=" +
      GetParam()[1];
  const std::vector<std::string> flags = {"--nnodes=" + GetParam()[0], conf};
  Program host = Node(flags, {"succeed-in", "2"});
  ASSERT_TRUE(host->Printed("waiting")) << host->Output();
  Program other = Node(flags, {"forever"});
  ASSERT_TRUE(host->Printed("round=1 world=2")) << host->Output();
  other->Signal(SIGSTOP);
  ASSERT_TRUE(host->Printed("this node is done")) << host->Output();
  Kill(*host);
  Program again = Node(flags, {"succeed-in", "2"});
  EXPECT_EQ(again->ExitCode(), 0) << again->Output();
  EXPECT_THAT(again->Output(),
              HasSubstr("this job had ended when its coordinator was killed"));
  EXPECT_THAT(again->Output(), HasSubstr("SUCCEEDED"));
  EXPECT_THAT(again->Lines("up rank="), IsEmpty());
  other->Signal(SIGKILL);
  other->Signal(SIGCONT);
}

// Each case has the value of --nnodes and of last_call_timeout in --rdzv-conf:
// the seconds for which a job waits for more nodes than its minimum. In the
// second case the job may have 3 nodes, so another node could take over from
// the killed host.
INSTANTIATE_TEST_SUITE_P(
    , HostRestartAtTheEnd,
    ::testing::Values(std::vector<std::string>{"1:2", "60"},
                      std::vector<std::string>{"1:3", "15"}));

}  // namespace
}  // namespace muster
