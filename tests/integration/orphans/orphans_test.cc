// Tests that no process of a node outlives its agent, however the agent ends.
// The tests use real binaries. The workers have descendants that have left the
// worker's session and process group, or whose parent has ended (family.sh).

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/guardian/descendants.h"
#include "agent/guardian/guardian_harness.h"
#include "tests/integration/harness/cluster.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::Ne;

constexpr int kWorkers = 4;
constexpr size_t kFamily = 8;
constexpr char kAgent[] = "launcher/agent";
constexpr char kFamilyScript[] = "tests/integration/orphans/family.sh";

class Orphans : public ::testing::Test {
 protected:
  Orphans() : fifo_(FifoPath()), alive_(fifo_) {
    // The path must be short, because the length of socket paths is limited.
    std::string pattern = "/tmp/orphans-XXXXXX";
    temporary_ = mkdtemp(pattern.data());
  }
  ~Orphans() override {
    unlink(fifo_.c_str());
    std::filesystem::remove_all(temporary_);
  }

  // Starts a node whose flags are `argv`, and waits until its workers and all
  // of their descendants run.
  void Start(std::vector<std::string> argv) {
    for (const std::string& word : {std::string("--nproc-per-node=4"),
                                    std::string(kFamilyScript), fifo_}) {
      argv.push_back(word);
    }
    node_ = std::make_unique<Subprocess>(
        argv, std::map<std::string, std::string>{{"TMPDIR", temporary_}});
    AwaitFamily();
    EXPECT_EQ(SocketFolders(), 1);
  }

  void AwaitFamily() {
    said_.clear();
    for (int i = 0; i < kWorkers; ++i) {
      const std::string pid = alive_.Line();
      ASSERT_NE(pid, "");
      said_.insert(std::stoi(pid));
    }
    // Repeat until the guardian, its four workers and all their descendants are
    // found. One reading of /proc may miss a process if its parent ends at the
    // same time.
    const auto end = std::chrono::steady_clock::now() + kEventTimeout;
    do {
      family_ = agent::Descendants(node_->pid());
    } while (family_.size() < kFamily &&
             std::chrono::steady_clock::now() < end);
    ASSERT_GE(family_.size(), kFamily);
  }

  pid_t Guardian() const {
    for (const agent::ProcessEntry& process : family_) {
      if (process.parent == node_->pid()) return process.pid;
    }
    return -1;
  }

  // Expects that all processes of the node have ended, even those that started
  // after Start.
  void ExpectNothingLeft() {
    for (const agent::ProcessEntry& process : family_) {
      EXPECT_TRUE(IsGone(process.pid)) << process.pid;
    }
    EXPECT_TRUE(alive_.EveryHolderGone());
  }

  // Returns the number of folders with the sockets for the workers' progress.
  int SocketFolders() const {
    int found = 0;
    for (const auto& entry : std::filesystem::directory_iterator(temporary_)) {
      found += entry.path().filename().string().rfind("muster-", 0) == 0;
    }
    return found;
  }

  static std::string FifoPath() {
    return ::testing::TempDir() + "/orphans_" + std::to_string(getpid()) +
           ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }

  const std::vector<std::string> standalone_ = {kLaunch, "--standalone",
                                                "--shutdown-timeout=1"};
  const std::string fifo_;
  std::string temporary_;
  agent::OutputPipe alive_;
  std::unique_ptr<Subprocess> node_;
  std::vector<agent::ProcessEntry> family_;
  // pids that the workers and their descendants have printed
  std::set<pid_t> said_;
};

TEST_F(Orphans, NoneAfterSigkillOfLaunch) {
  Start(standalone_);
  node_->Signal(SIGKILL);
  EXPECT_EQ(node_->ExitCode(), 128 + SIGKILL);
  ExpectNothingLeft();
  EXPECT_EQ(SocketFolders(), 0);
}

TEST_F(Orphans, NoneAfterSigkillOfLaunchsWholeGroup) {
  Start(standalone_);
  ASSERT_EQ(kill(-node_->pid(), SIGKILL), 0);
  EXPECT_EQ(node_->ExitCode(), 128 + SIGKILL);
  ExpectNothingLeft();
  EXPECT_EQ(SocketFolders(), 0);
}

TEST_F(Orphans, NoneAfterSigkillOfAnAgent) {
  LocalCluster cluster;
  Start({kAgent, "--rdzv-endpoint=" + cluster.endpoint(), "--rdzv-id=job"});
  node_->Signal(SIGKILL);
  EXPECT_EQ(node_->ExitCode(), 128 + SIGKILL);
  ExpectNothingLeft();
  EXPECT_EQ(SocketFolders(), 0);
}

TEST_F(Orphans, NoneAfterSigkillOfAnAgentsGuardian) {
  LocalCluster cluster;
  Start({kAgent, "--rdzv-endpoint=" + cluster.endpoint(), "--rdzv-id=job"});
  ASSERT_EQ(kill(Guardian(), SIGKILL), 0);
  EXPECT_THAT(node_->ExitCode(), testing::Optional(Ne(0)));
  EXPECT_THAT(node_->Output(), HasSubstr("was killed by signal 9"));
  ExpectNothingLeft();
}

TEST_F(Orphans, NoneAfterSigkillOfLaunchsGuardian) {
  Start(standalone_);
  ASSERT_EQ(kill(Guardian(), SIGKILL), 0);
  ASSERT_TRUE(node_->Printed("was killed by signal 9"));
  ExpectNothingLeft();
  EXPECT_THAT(node_->ExitCode(), testing::Optional(Ne(0)));
}

TEST_F(Orphans, NoneAfterAnIgnoredSigterm) {
  Start(standalone_);
  node_->Signal(SIGTERM);
  EXPECT_THAT(node_->ExitCode(), testing::Optional(Ne(0)));
  ExpectNothingLeft();
}

TEST_F(Orphans, NoneAfterTheSecondCtrlC) {
  Start({kLaunch, "--standalone", "--shutdown-timeout=600"});
  // Signal the whole process group, as a terminal does for Ctrl-C.
  ASSERT_EQ(kill(-node_->pid(), SIGINT), 0);
  ASSERT_TRUE(node_->Printed("stopping the job"));
  kill(-node_->pid(), SIGINT);
  EXPECT_THAT(node_->ExitCode(), testing::Optional(Ne(0)));
  ExpectNothingLeft();
}

TEST_F(Orphans, NoneOfABrokenRound) {
  std::vector<std::string> flags = standalone_;
  flags.emplace_back("--max-restarts=1");
  Start(flags);
  const std::vector<agent::ProcessEntry> earlier = family_;
  for (const agent::ProcessEntry& process : earlier) {
    // Find a worker: a child of the guardian (the workers' parent process) that
    // has printed its pid and leads a process group. Orphans that the guardian
    // has adopted are its children too, but lead no group.
    if (said_.contains(process.pid) && process.parent == Guardian() &&
        process.group == process.pid) {
      ASSERT_EQ(kill(process.pid, SIGKILL), 0);
      break;
    }
  }
  AwaitFamily();
  // The second round has begun, so all processes of the first round must have
  // ended.
  for (const agent::ProcessEntry& process : earlier) {
    if (process.pid == Guardian()) continue;
    EXPECT_TRUE(IsGone(process.pid)) << process.pid;
  }
  node_->Signal(SIGKILL);
  EXPECT_EQ(node_->ExitCode(), 128 + SIGKILL);
  ExpectNothingLeft();
}

}  // namespace
}  // namespace muster
