// Tests of nodes that join and leave, with real agents and a real coordinator
// on one machine.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/integration/harness/cluster.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(Membership, TwoNodesMakeOneWorld) {
  LocalCluster cluster;
  auto a =
      cluster.Node({"--nnodes=2", "--nproc-per-node=2"}, {"succeed-in", "1"});
  auto b =
      cluster.Node({"--nnodes=2", "--nproc-per-node=2"}, {"succeed-in", "1"});
  EXPECT_EQ(a->ExitCode(), 0);
  EXPECT_EQ(b->ExitCode(), 0);
  EXPECT_THAT(a->Lines("world=4"), SizeIs(2));
  EXPECT_THAT(b->Lines("world=4"), SizeIs(2));
  EXPECT_EQ(Field(a->Lines("up rank=")[0], "master"),
            Field(b->Lines("up rank=")[0], "master"));
}

TEST(Membership, NodesMayHaveDifferentSizes) {
  LocalCluster cluster;
  auto a = cluster.Node({"--nnodes=2", "--node-rank=0", "--nproc-per-node=1"},
                        {"succeed-in", "1"});
  auto b = cluster.Node({"--nnodes=2", "--node-rank=1", "--nproc-per-node=3"},
                        {"succeed-in", "1"});
  EXPECT_EQ(a->ExitCode(), 0);
  EXPECT_EQ(b->ExitCode(), 0);
  EXPECT_THAT(a->Lines("up rank=0 local=0 round=1 world=4"), SizeIs(1));
  EXPECT_THAT(b->Lines("up rank=3 local=2 round=1 world=4"), SizeIs(1));
}

TEST(Membership, AKilledWorkerRestartsTheWholeWorld) {
  LocalCluster cluster;
  const std::vector<std::string> flags = {"--nnodes=2", "--nproc-per-node=2",
                                          "--max-restarts=1"};
  auto a = cluster.Node(flags, {"succeed-in", "2"});
  auto b = cluster.Node(flags, {"succeed-in", "2"});
  ASSERT_TRUE(a->Printed("up rank=", 2));
  ASSERT_TRUE(b->Printed("up rank=", 2));
  kill(WorkerPids(*b, 1).at(0), SIGKILL);
  EXPECT_EQ(a->ExitCode(), 0);
  EXPECT_EQ(b->ExitCode(), 0);
  EXPECT_THAT(a->Lines("round=2 "), SizeIs(2));
  EXPECT_THAT(b->Lines("round=2 "), SizeIs(2));
  EXPECT_EQ(Field(a->Lines("round=2 ")[0], "group"),
            Field(a->Lines("round=1 ")[0], "group"));
}

TEST(Membership, EveryNodePrintsTheSameVerdict) {
  LocalCluster cluster;
  const std::vector<std::string> flags = {"--nnodes=2", "--nproc-per-node=1"};
  auto a = cluster.Node(flags, {"exit", "5", "1"});
  auto b = cluster.Node(flags, {"exit", "5", "1"});
  EXPECT_EQ(a->ExitCode(), 5);
  EXPECT_EQ(b->ExitCode(), 5);
  for (auto* node : {a.get(), b.get()}) {
    EXPECT_THAT(node->Output(), HasSubstr("ROOT CAUSE"));
    EXPECT_THAT(node->Output(), HasSubstr("about to fail"));
  }
}

TEST(Membership, SurvivorsContinueWithoutAKilledAgent) {
  LocalCluster cluster;
  const std::vector<std::string> flags = {
      "--nnodes=2:3", "--rdzv-conf=is_host=0,last_call_timeout=60"};
  auto a = cluster.Node(flags, {"succeed-in", "2"});
  auto b = cluster.Node(flags, {"succeed-in", "2"});
  auto c = cluster.Node(flags, {"succeed-in", "2"});
  ASSERT_TRUE(a->Printed("world=3"));
  ASSERT_TRUE(b->Printed("world=3"));
  ASSERT_TRUE(c->Printed("world=3"));
  const pid_t orphan = WorkerPids(*c, 1).at(0);
  c->Signal(SIGKILL);
  EXPECT_TRUE(IsGone(orphan));
  EXPECT_EQ(a->ExitCode(), 0);
  EXPECT_EQ(b->ExitCode(), 0);
  EXPECT_THAT(a->Lines("round=2 world=2"), SizeIs(1));
  EXPECT_THAT(b->Lines("restart=0 "), SizeIs(2));
}

// Node b is stopped and later killed. In between, a worker of node a is killed,
// as if it had failed because of b. The coordinator sees the worker's failure
// first, and b's loss later. The job must then continue, although it has no
// restart left: the loss of a node uses none.
TEST(Membership, AFailureReportedBeforeTheLossThatCausedItUsesNoRestart) {
  LocalCluster cluster;
  const std::vector<std::string> flags = {
      "--nnodes=1:2", "--rdzv-conf=is_host=0,last_call_timeout=60"};
  auto a = cluster.Node(flags, {"succeed-in", "2"});
  auto b = cluster.Node(flags, {"succeed-in", "2"});
  ASSERT_TRUE(a->Printed("world=2"));
  ASSERT_TRUE(b->Printed("world=2"));
  auto watch = cluster.Command({"watch", "job"});
  ASSERT_TRUE(watch->Printed("job job: running")) << watch->Output();
  b->Signal(SIGSTOP);
  ASSERT_EQ(kill(WorkerPids(*a, 1).at(0), SIGTERM), 0);
  ASSERT_TRUE(watch->Printed("killed by SIGTERM")) << watch->Output();
  b->Signal(SIGKILL);
  EXPECT_EQ(a->ExitCode(), 0) << a->Output();
  EXPECT_THAT(a->Lines("round=2 world=1"), SizeIs(1));
  EXPECT_THAT(a->Lines("restart=0 "), SizeIs(2));
}

TEST(Membership, ASilentAgentIsReplacedByASpareAfterItsLease) {
  LocalCluster cluster;
  const std::vector<std::string> flags = {
      "--nnodes=2",
      "--rdzv-conf=is_host=0,keep_alive_interval=0.2,"
      "keep_alive_max_attempt=25"};
  auto a = cluster.Node(flags, {"succeed-in", "2"});
  auto b = cluster.Node(flags, {"succeed-in", "2"});
  ASSERT_TRUE(a->Printed("world=2"));
  ASSERT_TRUE(b->Printed("world=2"));
  auto spare = cluster.Node(flags, {"succeed-in", "2"});
  ASSERT_TRUE(spare->Printed("spare"));
  const std::string rank = Field(b->Lines("up rank=")[0], "rank");
  b->Signal(SIGSTOP);
  EXPECT_EQ(a->ExitCode(), 0);
  EXPECT_EQ(spare->ExitCode(), 0);
  // The spare must have taken the rank of the stopped node.
  EXPECT_THAT(spare->Lines("up rank=" + rank + " local=0 round=2"), SizeIs(1));
  // Let the stopped node continue. It must learn that the job has continued
  // without it, and must exit. Its worker, the process `left`, must be gone
  // then.
  const pid_t left = WorkerPids(*b, 1).at(0);
  b->Signal(SIGCONT);
  EXPECT_TRUE(b->ExitCode().has_value());
  EXPECT_TRUE(IsGone(left));
}

TEST(Membership, AJobGrowsFromOneNodeToThree) {
  LocalCluster cluster;
  const std::vector<std::string> flags = {
      "--nnodes=1:3", "--scale-up-cooldown=0",
      "--rdzv-conf=is_host=0,last_call_timeout=0"};
  auto a = cluster.Node(flags, {"succeed-in", "3"});
  ASSERT_TRUE(a->Printed("world=1"));
  auto b = cluster.Node(flags, {"succeed-in", "3"});
  ASSERT_TRUE(b->Printed("world=2"));
  auto c = cluster.Node(flags, {"succeed-in", "3"});
  EXPECT_EQ(a->ExitCode(), 0);
  EXPECT_EQ(b->ExitCode(), 0);
  EXPECT_EQ(c->ExitCode(), 0);
  EXPECT_THAT(a->Lines("up rank=0 local=0 round=3 world=3"), SizeIs(1));
  EXPECT_THAT(b->Lines("up rank=1 local=0 round=3 world=3"), SizeIs(1));
  EXPECT_THAT(c->Lines("up rank=2 local=0 round=3 world=3"), SizeIs(1));
}

TEST(Membership, ANodeBeyondTheMaximumWaitsAndEndsWithTheJob) {
  LocalCluster cluster;
  auto a = cluster.Node({"--nnodes=1"}, {"forever"});
  ASSERT_TRUE(a->Printed("up rank=0"));
  auto spare = cluster.Node({"--nnodes=1"}, {"forever"});
  ASSERT_TRUE(spare->Printed("spare"));
  a->Signal(SIGTERM);
  EXPECT_EQ(a->ExitCode(), 128 + SIGTERM);
  EXPECT_EQ(spare->ExitCode(), 128 + SIGTERM);
}

TEST(Membership, StoppingASpareStopsNoOtherNode) {
  LocalCluster cluster;
  auto a = cluster.Node({"--nnodes=1"}, {"forever"});
  ASSERT_TRUE(a->Printed("up rank=0"));
  auto spare = cluster.Node({"--nnodes=1"}, {"forever"});
  ASSERT_TRUE(spare->Printed("spare"));
  spare->Signal(SIGINT);
  EXPECT_EQ(spare->ExitCode(), 0);
  EXPECT_EQ(kill(WorkerPids(*a, 1).at(0), 0), 0);
}

TEST(Membership, TwoNodesCannotHaveOneNodeRank) {
  LocalCluster cluster;
  const std::vector<std::string> flags = {
      "--nnodes=2", "--node-rank=0",
      "--rdzv-conf=is_host=0,keep_alive_interval=0.2,"
      "keep_alive_max_attempt=50"};
  auto a = cluster.Node(flags, {"forever"});
  ASSERT_TRUE(a->Printed("waiting"));
  auto b = cluster.Node(flags, {"forever"});
  EXPECT_EQ(b->ExitCode(), 1);
  EXPECT_THAT(b->Output(), HasSubstr("already held"));
}

TEST(Membership, NodesMustAgreeOnTheirNumber) {
  LocalCluster cluster;
  auto a = cluster.Node({"--nnodes=2"}, {"forever"});
  ASSERT_TRUE(a->Printed("waiting"));
  auto b = cluster.Node({"--nnodes=3"}, {"forever"});
  EXPECT_EQ(b->ExitCode(), 1);
  EXPECT_THAT(b->Output(), HasSubstr("--nnodes=2:2"));
}

TEST(Membership, AFinishedJobRejectsNodes) {
  LocalCluster cluster;
  auto a = cluster.Node({"--nnodes=1"}, {"succeed-in", "1"});
  EXPECT_EQ(a->ExitCode(), 0);
  auto late = cluster.Node({"--nnodes=1"}, {"succeed-in", "1"});
  EXPECT_EQ(late->ExitCode(), 1);
  EXPECT_THAT(late->Output(), HasSubstr("is over"));
  EXPECT_THAT(late->Lines("up rank="), SizeIs(0));
}

TEST(Membership, TooFewNodesAreAnErrorThatNamesTheMissing) {
  LocalCluster cluster;
  auto a = cluster.Node(
      {"--nnodes=2", "--node-rank=1", "--rdzv-conf=is_host=0,join_timeout=1"},
      {"forever"});
  EXPECT_EQ(a->ExitCode(), 1);
  EXPECT_THAT(a->Output(), HasSubstr("only 1 of at least 2 nodes"));
  EXPECT_THAT(a->Output(), HasSubstr("absent: node rank 0"));
}

TEST(Membership, WithoutACoordinatorTheWorkersAreStoppedAfterItsDeadline) {
  LocalCluster cluster;
  auto a = cluster.Node({"--nnodes=1", "--coordinator-timeout=1"}, {"forever"});
  ASSERT_TRUE(a->Printed("up rank=0"));
  const pid_t worker = WorkerPids(*a, 1).at(0);
  cluster.daemon().Signal(SIGKILL);
  EXPECT_EQ(a->ExitCode(), 1);
  EXPECT_TRUE(IsGone(worker));
  EXPECT_THAT(a->Output(), HasSubstr("no answer from the coordinator"));
}

}  // namespace
}  // namespace muster
