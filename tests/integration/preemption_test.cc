// Tests of preemption with real launches, which get the notice of the
// preemption as a signal.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/integration/harness/cluster.h"

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr int kPreempted = 75;

std::string Read(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class Preemption : public ::testing::Test {
 protected:
  Preemption() {
    folder_ = testing::TempDir() + "preemption-XXXXXX";
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  ~Preemption() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
};

TEST_F(Preemption, EveryWorkerWritesACheckpointAndTheJobEndsWith75) {
  LocalCluster cluster;
  const std::string told = folder_ + "/told";
  const std::vector<std::string> flags = {
      "--nnodes=2",
      "--nproc-per-node=2",
      "--signals-to-preempt=SIGUSR1,TERM",
      "--preempt-signal=USR2",
      "--preempt-grace=50",
      "--on-preempt=echo \"$MUSTER_RUN_ID $MUSTER_PREEMPTION_SIGNAL\" >> " +
          told};
  auto a = cluster.Node(flags, {"keep", "USR2"});
  auto b = cluster.Node(flags, {"keep", "USR2"});
  ASSERT_TRUE(a->Printed("ready rank=", 2));
  ASSERT_TRUE(b->Printed("ready rank=", 2));
  b->Signal(SIGUSR1);
  EXPECT_EQ(a->ExitCode(), kPreempted);
  EXPECT_EQ(b->ExitCode(), kPreempted);
  for (auto* node : {a.get(), b.get()}) {
    EXPECT_THAT(node->Lines("keeps rank="), SizeIs(2)) << node->Output();
    EXPECT_THAT(node->Lines("\"signal\":\"SIGUSR1\""), SizeIs(2));
    EXPECT_THAT(node->Output(), AllOf(HasSubstr("PREEMPTED"),
                                      HasSubstr("preempted: SIGUSR1 at "),
                                      Not(HasSubstr("early"))));
  }
  EXPECT_EQ(Read(told), "job SIGUSR1\njob SIGUSR1\n");
}

TEST_F(Preemption, WorkersWithoutAHandlerEndByTheSignal) {
  LocalCluster cluster;
  const std::vector<std::string> flags = {"--nnodes=2",
                                          "--signals-to-preempt=TERM"};
  auto a = cluster.Node(flags, {"forever"});
  auto b = cluster.Node(flags, {"forever"});
  ASSERT_TRUE(a->Printed("up rank="));
  ASSERT_TRUE(b->Printed("up rank="));
  a->Signal(SIGTERM);
  EXPECT_EQ(a->ExitCode(), kPreempted);
  EXPECT_EQ(b->ExitCode(), kPreempted);
  EXPECT_THAT(b->Output(), Not(HasSubstr("ROOT CAUSE")));
}

TEST_F(Preemption, TheFileAloneAnnouncesAPreemption) {
  auto launch = Standalone({"--signals-to-preempt=USR1", "--preempt-signal=0"},
                           {"look-out"});
  ASSERT_TRUE(launch->Printed("ready rank=0"));
  launch->Signal(SIGUSR1);
  EXPECT_EQ(launch->ExitCode(), kPreempted);
  EXPECT_THAT(launch->Lines("keeps rank="), SizeIs(1));
}

TEST_F(Preemption, AfterTheGraceRemainingWorkersAreStopped) {
  auto launch = Standalone({"--signals-to-preempt=USR1", "--preempt-grace=0.2",
                            "--shutdown-timeout=0.2"},
                           {"deaf"});
  ASSERT_TRUE(launch->Printed("up rank=0"));
  launch->Signal(SIGUSR1);
  EXPECT_EQ(launch->ExitCode(), kPreempted);
  EXPECT_TRUE(IsGone(WorkerPids(*launch, 1).at(0)));
}

TEST_F(Preemption, AFailureDuringThePreemptionIsNamed) {
  LocalCluster cluster;
  const std::vector<std::string> flags = {"--nnodes=2", "--max-restarts=3",
                                          "--signals-to-preempt=USR1",
                                          "--preempt-signal=USR2"};
  auto a = cluster.Node(flags, {"keep-or-fail", "USR2", "1"});
  auto b = cluster.Node(flags, {"keep-or-fail", "USR2", "1"});
  ASSERT_TRUE(a->Printed("ready rank="));
  ASSERT_TRUE(b->Printed("ready rank="));
  a->Signal(SIGUSR1);
  EXPECT_EQ(a->ExitCode(), kPreempted);
  EXPECT_EQ(b->ExitCode(), kPreempted);
  EXPECT_THAT(a->Output(), AllOf(HasSubstr("besides, rank 1"),
                                 HasSubstr("no space for a checkpoint"),
                                 Not(HasSubstr("round=2"))));
}

TEST_F(Preemption, AGatheringJobEndsAtOnce) {
  LocalCluster cluster;
  auto a = cluster.Node({"--nnodes=2", "--signals-to-preempt=USR1"}, {});
  ASSERT_TRUE(a->Printed("waiting"));
  a->Signal(SIGUSR1);
  EXPECT_EQ(a->ExitCode(), kPreempted);
}

// Both nodes find a fake scontrol. The fake writes each requeue request to a
// file. Only one of the two nodes must send such a request.
TEST_F(Preemption, OnlyASingleNodeRequeuesTheJob) {
  const std::string asked = folder_ + "/asked";
  const std::string scontrol = folder_ + "/scontrol";
  std::ofstream(scontrol)
      << "#!/bin/sh\n[ \"$1\" != requeue ] || echo \"$@\" >> " << asked << "\n";
  ASSERT_EQ(chmod(scontrol.c_str(), 0755), 0);
  const std::string path = getenv("PATH");
  setenv("PATH", (folder_ + ":" + path).c_str(), 1);
  setenv("SLURM_JOB_ID", "4711", 1);
  LocalCluster cluster;
  const std::vector<std::string> flags = {
      "--cluster=none", "--nnodes=2", "--signals-to-preempt=USR1", "--requeue"};
  auto a = cluster.Node(flags, {"forever"});
  auto b = cluster.Node(flags, {"forever"});
  unsetenv("SLURM_JOB_ID");
  setenv("PATH", path.c_str(), 1);
  ASSERT_TRUE(a->Printed("up rank="));
  ASSERT_TRUE(b->Printed("up rank="));
  a->Signal(SIGUSR1);
  EXPECT_EQ(a->ExitCode(), kPreempted);
  EXPECT_EQ(b->ExitCode(), kPreempted);
  EXPECT_EQ(Read(asked), "requeue 4711\n");
}

TEST_F(Preemption, AFailedHookIsOnlyReported) {
  auto launch = Standalone(
      {"--signals-to-preempt=USR1", "--on-preempt=echo no bucket; exit 3"},
      {"forever"});
  ASSERT_TRUE(launch->Printed("up rank=0"));
  launch->Signal(SIGUSR1);
  EXPECT_EQ(launch->ExitCode(), kPreempted);
  EXPECT_THAT(launch->Output(),
              HasSubstr("--on-preempt failed: no bucket (exit code 3)"));
}

// A worker exits with 75 (EX_TEMPFAIL) in a preempted job. `launch` must not
// count this as a failure.
TEST_F(Preemption, AWorkersExitCode75DoesNotFailAPreemptedJob) {
  // Rank 0 waits until this test unlocks the file `gate`.
  const std::string gate = folder_ + "/gate";
  const int lock = open(gate.c_str(), O_CREAT | O_CLOEXEC | O_RDWR, 0600);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  auto launch = Standalone({"--nproc-per-node=2", "--signals-to-preempt=USR1",
                            "--preempt-signal=USR2"},
                           {"again", "USR2", gate});
  ASSERT_TRUE(launch->Printed("ready rank=", 2));
  const std::string line = launch->Lines("up rank=1 ").at(0);
  const pid_t first_to_go = std::stoi(line.substr(line.find("pid=") + 4));
  launch->Signal(SIGUSR1);
  ASSERT_TRUE(launch->Printed("again rank=1"));
  ASSERT_TRUE(IsGone(first_to_go));
  close(lock);
  EXPECT_EQ(launch->ExitCode(), kPreempted);
  EXPECT_THAT(launch->Output(),
              AllOf(HasSubstr("again rank=0"), Not(HasSubstr("ROOT CAUSE"))));
}

TEST_F(Preemption, AHookThatTimesOutIsNamed) {
  auto launch =
      Standalone({"--signals-to-preempt=USR1", "--preempt-grace=0.2",
                  "--shutdown-timeout=0.2", "--on-preempt=tail -f /dev/null"},
                 {"forever"});
  ASSERT_TRUE(launch->Printed("up rank=0"));
  launch->Signal(SIGUSR1);
  EXPECT_EQ(launch->ExitCode(), kPreempted);
  // The agent's time limit and the limit of the --on-preempt command expire at
  // the same time. So `launch` may print the message of either limit.
  EXPECT_THAT(launch->Output(),
              AnyOf(HasSubstr("--on-preempt was ended before it was done: its "
                              "time is over"),
                    HasSubstr("--on-preempt failed: it did not end within")));
}

// The --on-preempt command never ends: if Ctrl-C waited for it, the test would
// time out.
TEST_F(Preemption, CtrlCDoesNotWaitForTheHook) {
  LocalCluster cluster;
  const std::vector<std::string> flags = {
      "--nnodes=2", "--signals-to-preempt=USR1", "--preempt-grace=7200",
      "--shutdown-timeout=7200", "--on-preempt=tail -f /dev/null"};
  auto a = cluster.Node(flags, {"forever"});
  auto b = cluster.Node(flags, {"forever"});
  ASSERT_TRUE(a->Printed("up rank="));
  ASSERT_TRUE(b->Printed("up rank="));
  a->Signal(SIGUSR1);
  ASSERT_TRUE(b->Printed("is being preempted"));
  a->Signal(SIGINT);
  for (auto* node : {a.get(), b.get()}) {
    EXPECT_EQ(node->ExitCode(), 128 + SIGINT);
    EXPECT_THAT(node->Output(),
                HasSubstr("--on-preempt was ended before it was done: the job "
                          "is being cancelled"));
  }
}

TEST_F(Preemption, RequeueOutsideOfSlurmIsRejectedAtTheStart) {
  auto launch = Standalone({"--signals-to-preempt=USR1", "--requeue"}, {});
  EXPECT_EQ(launch->ExitCode(), 2);
  EXPECT_THAT(launch->Output(), HasSubstr("--requeue: this is no Slurm job"));
}

}  // namespace
}  // namespace muster
