// Tests that jobs continue while their coordinator is killed and started again,
// with its saved state (--state-dir) or without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/integration/harness/cluster.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class CoordinatorRestart : public ::testing::Test {
 protected:
  CoordinatorRestart() {
    folder_ = testing::TempDir() + "state-XXXXXX";
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  ~CoordinatorRestart() override { std::filesystem::remove_all(folder_); }

  std::vector<std::string> State() const { return {"--state-dir=" + folder_}; }

  // Runs a job of two nodes and restarts the coordinator (rendezvousd) twice.
  // Calls `check_continued` after each restart of the coordinator, with the
  // number of its restarts so far. Checks that the same workers run from the
  // job's start to its end.
  static void WorkersRunOn(LocalCluster& cluster,
                           const std::function<void(int)>& check_continued) {
    const std::vector<std::string> flags = {"--nnodes=2", "--nproc-per-node=2"};
    auto a = cluster.Node(flags, {"catch", "USR1"});
    auto b = cluster.Node(flags, {"catch", "USR1"});
    ASSERT_TRUE(a->Printed("ready rank=", 2));
    ASSERT_TRUE(b->Printed("ready rank=", 2));
    for (int restarts = 1; restarts <= 2; ++restarts) {
      cluster.RestartDaemon();
      check_continued(restarts);
    }
    for (Subprocess* node : {a.get(), b.get()}) {
      for (const pid_t pid : WorkerPids(*node, 1)) kill(pid, SIGUSR1);
    }
    for (Subprocess* node : {a.get(), b.get()}) {
      EXPECT_EQ(node->ExitCode(), 0);
      EXPECT_THAT(node->Lines("up rank="), SizeIs(2));
      EXPECT_THAT(node->Lines("caught"), SizeIs(2));
    }
  }

  // Checks that a job with --max-restarts=1 gets only one restart. Runs a job
  // of two nodes, and kills one worker in round 1 and one in round 2.
  // `in_round_1`: called after the first kill. `in_round_2`: called before the
  // second kill. The job must then fail without a round 3.
  static void TheBudgetIsSpentOnce(LocalCluster& cluster,
                                   const std::function<void()>& in_round_1,
                                   const std::function<void()>& in_round_2) {
    const std::vector<std::string> flags = {"--nnodes=2", "--max-restarts=1"};
    auto a = cluster.Node(flags, {"forever"});
    auto b = cluster.Node(flags, {"forever"});
    ASSERT_TRUE(a->Printed("up rank="));
    ASSERT_TRUE(b->Printed("up rank="));
    kill(WorkerPids(*a, 1).at(0), SIGKILL);
    in_round_1();
    ASSERT_TRUE(a->Printed("up rank=", 2)) << a->Output();
    ASSERT_TRUE(b->Printed("up rank=", 2)) << b->Output();
    in_round_2();
    if (HasFatalFailure()) return;
    kill(WorkerPids(*b, 2).at(0), SIGSEGV);
    EXPECT_EQ(a->ExitCode(), 128 + SIGSEGV);
    EXPECT_EQ(b->ExitCode(), 128 + SIGSEGV);
    EXPECT_THAT(a->Lines("round=3"), IsEmpty());
  }

  // Kills the coordinator (rendezvousd). Returns once it has ended, so that no
  // coordinator exists.
  static void EndDaemon(LocalCluster& cluster) {
    cluster.daemon().Signal(SIGKILL);
    ASSERT_TRUE(IsGone(cluster.daemon().pid()));
  }

  // Sends SIGUSR1 to the workers of `node`, which are in round 1. Returns once
  // these workers have ended.
  static void EndWorkers(Subprocess& node) {
    for (const pid_t pid : WorkerPids(node, 1)) {
      kill(pid, SIGUSR1);
      EXPECT_TRUE(IsGone(pid));
    }
  }

  // Runs a job of two nodes with `flags`, whose workers do `deed` and end after
  // SIGUSR1. All workers end while no coordinator exists. Then the coordinator
  // is started again. Checks that each node exits with `exit_code`, prints a
  // verdict with each of `words`, and starts no second round.
  static void TheWorkersEndMeanwhile(LocalCluster& cluster,
                                     std::vector<std::string> flags,
                                     const std::vector<std::string>& deed,
                                     int exit_code,
                                     const std::vector<std::string>& words) {
    flags.emplace_back("--nnodes=2");
    auto a = cluster.Node(flags, deed);
    auto b = cluster.Node(flags, deed);
    ASSERT_TRUE(a->Printed("ready rank="));
    ASSERT_TRUE(b->Printed("ready rank="));
    EndDaemon(cluster);
    EndWorkers(*a);
    EndWorkers(*b);
    cluster.RestartDaemon();
    for (Subprocess* node : {a.get(), b.get()}) {
      EXPECT_EQ(node->ExitCode(), exit_code) << node->Output();
      EXPECT_THAT(node->Lines("up rank="), SizeIs(1));
      for (const std::string& word : words) {
        EXPECT_THAT(node->Output(), HasSubstr(word));
      }
    }
  }

  std::string folder_;
};

TEST_F(CoordinatorRestart, WorkersRunOnAndTheJobSucceeds) {
  LocalCluster cluster(kWorker, State());
  WorkersRunOn(cluster, [&](int) {
    EXPECT_THAT(cluster.daemon().Output(), HasSubstr("goes on with 1 job"));
    auto status = cluster.Command({"status", "--run-id=job"});
    EXPECT_EQ(status->ExitCode(), 0);
    EXPECT_THAT(status->Output(), HasSubstr("round        1,"));
  });
}

TEST_F(CoordinatorRestart, AWorkerThatFailsMeanwhileIsCountedOnce) {
  LocalCluster cluster(kWorker, State());
  const auto restart = [&] { cluster.RestartDaemon(); };
  TheBudgetIsSpentOnce(cluster, restart, restart);
}

TEST_F(CoordinatorRestart, WorkersThatSucceedMeanwhileEndTheJob) {
  LocalCluster cluster(kWorker, State());
  TheWorkersEndMeanwhile(cluster, {}, {"catch", "USR1"}, 0,
                         {"SUCCEEDED", "(1 round)"});
  EXPECT_THAT(cluster.daemon().Output(), HasSubstr("goes on with 1 job"));
}

TEST_F(CoordinatorRestart, AWorkerThatFailsMeanwhileEndsTheJobWithItsCode) {
  LocalCluster cluster(kWorker, State());
  TheWorkersEndMeanwhile(cluster, {"--max-restarts=0"},
                         {"keep-or-fail", "USR1", "1"}, 4,
                         {"FAILED", "rank 1", "exit code 4"});
}

// The job has three nodes. Without a coordinator, the workers of one node
// succeed, those of the second node fail, and those of the third node run on.
// No node knows the verdict, so each one reports what its own workers did.
TEST_F(CoordinatorRestart, WithoutACoordinatorEachNodeReportsItsOwnWorkers) {
  LocalCluster cluster(kWorker, State());
  const auto start = [&](const std::string& node_rank,
                         const std::vector<std::string>& deed) {
    return cluster.Node({"--nnodes=3", "--max-restarts=0",
                         "--coordinator-timeout=8", "--node-rank=" + node_rank},
                        deed);
  };
  auto succeeds = start("0", {"catch", "USR1"});
  auto fails = start("1", {"keep-or-fail", "USR1", "1"});
  auto runs = start("2", {"forever"});
  ASSERT_TRUE(succeeds->Printed("ready rank="));
  ASSERT_TRUE(fails->Printed("ready rank="));
  ASSERT_TRUE(runs->Printed("up rank="));
  EndDaemon(cluster);
  EndWorkers(*succeeds);
  EndWorkers(*fails);
  EXPECT_EQ(succeeds->ExitCode(), 0);
  EXPECT_THAT(succeeds->Output(),
              HasSubstr("every worker of this node succeeded, but the job's "
                        "verdict is not known: no answer from the "
                        "coordinator"));
  EXPECT_EQ(fails->ExitCode(), 4);
  EXPECT_THAT(fails->Lines("; no answer from the coordinator"),
              ElementsAre(HasSubstr("exit code 4")));
  EXPECT_EQ(runs->ExitCode(), 1);
  EXPECT_THAT(runs->Output(), HasSubstr("no answer from the coordinator"));
  EXPECT_TRUE(IsGone(WorkerPids(*runs, 1).at(0)));
}

TEST_F(CoordinatorRestart, ADrainedNodeStaysAwayAndACancelHolds) {
  LocalCluster cluster(kWorker, State());
  auto a = cluster.Node({"--nnodes=1:2", "--node-id=a"}, {"forever"});
  auto b = cluster.Node({"--nnodes=1:2", "--node-id=b"}, {"forever"});
  ASSERT_TRUE(a->Printed("round=1"));
  ASSERT_TRUE(b->Printed("round=1"));
  auto drain = cluster.Command({"drain", "b", "--run-id=job"});
  EXPECT_EQ(drain->ExitCode(), 0) << drain->Output();
  EXPECT_EQ(b->ExitCode(), 0);
  ASSERT_TRUE(a->Printed("round=2"));
  cluster.RestartDaemon();
  auto cancel = cluster.Command({"cancel", "--run-id=job"});
  EXPECT_EQ(cancel->ExitCode(), 0) << cancel->Output();
  cluster.RestartDaemon();
  EXPECT_EQ(a->ExitCode(), 128 + SIGTERM) << a->Output();
}

// Starts a rendezvousd that has no --state-dir and writes its decisions to an
// event log. Also starts a process that prints this log.
class CoordinatorRestartWithoutState : public CoordinatorRestart {
 protected:
  std::string Events() const { return folder_ + "/events.jsonl"; }

  LocalCluster cluster_{kWorker, {"--event-log=" + Events()}};
  Subprocess events_{{"/usr/bin/tail", "-n+1", "-F", Events()}};
};

TEST_F(CoordinatorRestartWithoutState, WorkersRunOnAndTheJobSucceeds) {
  WorkersRunOn(cluster_, [&](int restarts) {
    EXPECT_TRUE(events_.Printed("round 1 goes on: 2 of its 2 nodes", restarts));
  });
}

TEST_F(CoordinatorRestartWithoutState, WorkersThatSucceedMeanwhileEndTheJob) {
  TheWorkersEndMeanwhile(cluster_, {}, {"catch", "USR1"}, 0, {"SUCCEEDED"});
}

TEST_F(CoordinatorRestartWithoutState,
       AWorkerThatFailsMeanwhileEndsTheJobWithItsCode) {
  TheWorkersEndMeanwhile(cluster_, {"--max-restarts=0"},
                         {"keep-or-fail", "USR1", "1"}, 4,
                         {"FAILED", "rank 1", "exit code 4"});
}

TEST_F(CoordinatorRestartWithoutState, NodesAndCommandsMoveToTheNextEndpoint) {
  cluster_.AddStandby();
  const std::vector<std::string> flags = {"--nnodes=2", "--nproc-per-node=2"};
  auto a = cluster_.Node(flags, {"catch", "USR1"});
  auto b = cluster_.Node(flags, {"catch", "USR1"});
  ASSERT_TRUE(a->Printed("ready rank=", 2));
  ASSERT_TRUE(b->Printed("ready rank=", 2));
  const auto expect_round_1 = [this] {
    auto status = cluster_.Command({"status", "--run-id=job"});
    EXPECT_EQ(status->ExitCode(), 0) << status->Output();
    EXPECT_THAT(status->Output(), HasSubstr("round        1,"));
  };
  expect_round_1();
  cluster_.FailOver();
  EXPECT_TRUE(events_.Printed("round 1 goes on: 2 of its 2 nodes"));
  expect_round_1();
  for (Subprocess* node : {a.get(), b.get()}) {
    for (const pid_t pid : WorkerPids(*node, 1)) kill(pid, SIGUSR1);
  }
  EXPECT_EQ(a->ExitCode(), 0) << a->Output();
  EXPECT_EQ(b->ExitCode(), 0) << b->Output();
  EXPECT_THAT(a->Lines("up rank="), SizeIs(2));
  EXPECT_THAT(b->Lines("up rank="), SizeIs(2));
  EXPECT_THAT(a->Lines("caught"), SizeIs(2));
  EXPECT_THAT(b->Lines("caught"), SizeIs(2));
}

TEST_F(CoordinatorRestartWithoutState, TheBudgetIsNotGrantedAgain) {
  const auto nothing = [] {};
  TheBudgetIsSpentOnce(cluster_, nothing, [&] {
    cluster_.RestartDaemon();
    ASSERT_TRUE(events_.Printed("round 2 goes on"));
  });
}

// The saved state of rendezvousd is removed before rendezvousd is killed and
// started again. Only the agents still know the epoch of the killed
// coordinator. The worker must run on.
TEST_F(CoordinatorRestartWithoutState, AStateThatWasRemovedStopsNoWorker) {
  const std::string state = folder_ + "/state";
  LocalCluster cluster(kWorker, {"--state-dir=" + state});
  auto a = cluster.Node({"--nnodes=1", "--max-restarts=0"}, {"catch", "USR1"});
  ASSERT_TRUE(a->Printed("ready rank="));
  std::filesystem::remove_all(state);
  cluster.RestartDaemon();
  kill(WorkerPids(*a, 1).at(0), SIGUSR1);
  EXPECT_EQ(a->ExitCode(), 0) << a->Output();
  EXPECT_THAT(a->Lines("up rank="), SizeIs(1));
}

TEST_F(CoordinatorRestart, OnlyOneDaemonHasTheState) {
  LocalCluster cluster(kWorker, State());
  Subprocess other({kDaemon, "--listen=127.0.0.1:0", "--state-dir=" + folder_});
  EXPECT_EQ(other.ExitCode(), 1);
  EXPECT_THAT(other.Output(), HasSubstr(folder_));
  EXPECT_THAT(other.Output(), HasSubstr("in use by process"));
}

}  // namespace
}  // namespace muster
