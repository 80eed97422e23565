// Tests of signals to a node, and of operators' commands.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/integration/harness/cluster.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(Signals, CtrlCAtOneNodeStopsAllNodes) {
  LocalCluster cluster;
  auto a = cluster.Node({"--nnodes=2"}, {"catch", "INT"});
  auto b = cluster.Node({"--nnodes=2"}, {"catch", "INT"});
  ASSERT_TRUE(a->Printed("ready rank="));
  ASSERT_TRUE(b->Printed("ready rank="));
  a->Signal(SIGINT);
  EXPECT_EQ(a->ExitCode(), 128 + SIGINT);
  EXPECT_EQ(b->ExitCode(), 128 + SIGINT);
  // Only node a got SIGINT from the test. The workers of both nodes must have
  // caught a SIGINT.
  EXPECT_THAT(a->Lines("] caught"), SizeIs(1));
  EXPECT_THAT(b->Lines("] caught"), SizeIs(1));
}

// If SIGHUP and SIGQUIT are ignored when `launch` starts, they must stay
// ignored. This happens under nohup, or in a background job of sh.
TEST(Signals, ASignalIgnoredAtTheStartStaysIgnored) {
  Subprocess launch({"sh", "-c", "trap '' HUP QUIT; exec \"$@\"", "sh", kLaunch,
                     "--standalone", "--signals-to-forward=SIGUSR1", kWorker,
                     "catch", "USR1"});
  ASSERT_TRUE(launch.Printed("ready rank="));
  // The kernel delivers the lowest signal number first. So if `launch` did not
  // ignore SIGHUP and SIGQUIT, it would handle them before SIGUSR1.
  launch.Signal(SIGHUP);
  launch.Signal(SIGQUIT);
  launch.Signal(SIGUSR1);
  EXPECT_EQ(launch.ExitCode(), 0) << launch.Output();
  EXPECT_THAT(launch.Lines("] caught"), SizeIs(1));
}

TEST(Signals, AnIgnoredSignalIsIgnoredByTheWorkersToo) {
  Subprocess launch({"sh", "-c", "trap '' HUP; exec \"$@\"", "sh", kLaunch,
                     "--standalone", "grep", "SigIgn", "/proc/self/status"});
  EXPECT_EQ(launch.ExitCode(), 0) << launch.Output();
  // The last digits of SigIgn show that only SIGHUP is ignored. Higher digits
  // may differ: the program that runs the tests may ignore signals 32 and 33 of
  // the C library.
  EXPECT_THAT(launch.Output(), HasSubstr("0000001\n"));
}

TEST(Signals, ASecondSignalStopsAtOnce) {
  auto launch = Standalone({"--shutdown-timeout=3600"}, {"deaf"});
  ASSERT_TRUE(launch->Printed("up rank=0"));
  launch->Signal(SIGTERM);
  ASSERT_TRUE(launch->Printed("once more"));
  launch->Signal(SIGTERM);
  EXPECT_EQ(launch->ExitCode(), 128 + SIGTERM);
  EXPECT_TRUE(IsGone(WorkerPids(*launch, 1).at(0)));
}

TEST(Signals, AStoppedWorkerEndsWithTheOthers) {
  auto launch = Standalone({"--nproc-per-node=2", "--shutdown-timeout=3600"},
                           {"forever"});
  ASSERT_TRUE(launch->Printed("up rank=", 2));
  ASSERT_EQ(kill(WorkerPids(*launch, 1).at(0), SIGSTOP), 0);
  launch->Signal(SIGTERM);
  EXPECT_EQ(launch->ExitCode(), 128 + SIGTERM);
}

TEST(Signals, UserSignalsGoToEveryWorkerOfTheJob) {
  LocalCluster cluster;
  const std::vector<std::string> flags = {"--nnodes=2",
                                          "--signals-to-forward=SIGUSR1"};
  auto a = cluster.Node(flags, {"catch", "USR1"});
  auto b = cluster.Node(flags, {"catch", "USR1"});
  ASSERT_TRUE(a->Printed("ready rank="));
  ASSERT_TRUE(b->Printed("ready rank="));
  b->Signal(SIGUSR1);
  EXPECT_EQ(a->ExitCode(), 0);
  EXPECT_EQ(b->ExitCode(), 0);
  EXPECT_THAT(a->Lines("] caught"), SizeIs(1));
  EXPECT_THAT(b->Lines("] caught"), SizeIs(1));
}

TEST(Signals, AHandledUserSignalEndsTheJobAsUnderTorchrun) {
  LocalCluster cluster;
  const std::vector<std::string> flags = {
      "--nnodes=2", "--signals-to-handle=SIGTERM,SIGUSR1"};
  auto a = cluster.Node(flags, {"catch", "USR1"});
  auto b = cluster.Node(flags, {"catch", "USR1"});
  ASSERT_TRUE(a->Printed("ready rank="));
  ASSERT_TRUE(b->Printed("ready rank="));
  b->Signal(SIGUSR1);
  EXPECT_EQ(a->ExitCode(), 128 + SIGUSR1);
  EXPECT_EQ(b->ExitCode(), 128 + SIGUSR1);
  // The signal must have reached the workers of both nodes.
  EXPECT_THAT(a->Lines("] caught"), SizeIs(1));
  EXPECT_THAT(b->Lines("] caught"), SizeIs(1));
}

TEST(Signals, ANodeLeavesOnItsLeaveSignal) {
  LocalCluster cluster;
  const std::vector<std::string> flags = {
      "--nnodes=1:2", "--signals-to-leave=SIGTERM",
      "--rdzv-conf=is_host=0,last_call_timeout=60"};
  auto a = cluster.Node(flags, {"succeed-in", "2"});
  auto b = cluster.Node(flags, {"succeed-in", "2"});
  ASSERT_TRUE(a->Printed("world=2"));
  ASSERT_TRUE(b->Printed("world=2"));
  b->Signal(SIGTERM);
  EXPECT_EQ(b->ExitCode(), 0);
  EXPECT_EQ(a->ExitCode(), 0);
  EXPECT_THAT(a->Lines("round=2 world=1"), SizeIs(1));
}

TEST(Operator, StatusShowsTheJobAndCancelEndsIt) {
  LocalCluster cluster;
  auto a = cluster.Node({"--nnodes=1", "--nproc-per-node=2"}, {"forever"});
  ASSERT_TRUE(a->Printed("up rank=", 2));
  auto status = cluster.Command({"status", "--run-id=job"});
  EXPECT_EQ(status->ExitCode(), 0);
  EXPECT_THAT(status->Output(), HasSubstr("job"));
  EXPECT_THAT(status->Output(), HasSubstr("running"));
  auto cancel = cluster.Command({"cancel", "--run-id=job"});
  EXPECT_EQ(cancel->ExitCode(), 0);
  EXPECT_EQ(a->ExitCode(), 128 + SIGTERM);
  EXPECT_THAT(a->Output(), HasSubstr("cancelled"));
}

TEST(Operator, DrainRemovesOneNodeAndTheOthersContinue) {
  LocalCluster cluster;
  const std::vector<std::string> flags = {
      "--nnodes=1:2", "--rdzv-conf=is_host=0,last_call_timeout=60"};
  auto a =
      cluster.Node({flags[0], flags[1], "--node-id=left"}, {"succeed-in", "2"});
  auto b = cluster.Node({flags[0], flags[1], "--node-id=right"},
                        {"succeed-in", "2"});
  ASSERT_TRUE(a->Printed("world=2"));
  ASSERT_TRUE(b->Printed("world=2"));
  auto drain = cluster.Command({"drain", "right", "--run-id=job"});
  EXPECT_EQ(drain->ExitCode(), 0) << drain->Output();
  EXPECT_EQ(b->ExitCode(), 0);
  EXPECT_EQ(a->ExitCode(), 0);
  EXPECT_THAT(a->Lines("round=2 world=1"), SizeIs(1));
}

TEST(Operator, DrainIsRejectedIfTooFewNodesWouldRemain) {
  LocalCluster cluster;
  auto a = cluster.Node({"--nnodes=1", "--node-id=only"}, {"forever"});
  ASSERT_TRUE(a->Printed("up rank=0"));
  auto drain = cluster.Command({"drain", "only", "--run-id=job"});
  EXPECT_NE(drain->ExitCode(), 0);
  EXPECT_THAT(drain->Output(), HasSubstr("the job needs 1"));
}

}  // namespace
}  // namespace muster
