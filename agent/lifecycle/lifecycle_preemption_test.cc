// Tests of the lifecycle when the cluster announces a preemption of the node.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "agent/lifecycle/lifecycle_fixture.h"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Lifecycle::Config PreemptedConfig() {
  Lifecycle::Config config = LifecycleFixture::QuickConfig();
  config.spec.preempt_grace = seconds(60);
  config.signals_to_preempt = {SIGUSR1, SIGTERM};
  config.preempt_signal = SIGTERM;
  config.policy.signals_to_forward = {SIGCONT, SIGUSR2};
  return config;
}

class LifecyclePreemption : public ::testing::Test {
 protected:
  void TellOfIt(int round, Duration left = seconds(40)) {
    rendezvous::Directive directive =
        DirectiveOf(rendezvous::DirectiveKind::kRun);
    directive.place.round = round;
    directive.preemption = rendezvous::PreemptionNotice{
        .signal = SIGUSR1, .host = "b", .left = left};
    agent_.Tell(directive);
  }
  void Ends(int local_rank, rendezvous::FailureKind kind, int exit_code,
            int signal) {
    rendezvous::Failure failure;
    failure.kind = kind;
    failure.local_rank = local_rank;
    failure.exit_code = exit_code;
    failure.signal = signal;
    agent_.Step(WorkerDown{local_rank, failure});
  }
  void Announced() { agent_.Step(PreemptionAnnounced()); }

  LifecycleFixture agent_{PreemptedConfig()};
};

TEST_F(LifecyclePreemption, NoticeReachesCoordinatorNodeAndWorkers) {
  agent_.Run(1);
  agent_.Forget();
  agent_.Step(SignalCaught{SIGUSR1});
  ASSERT_TRUE(agent_.last_step().report.has_value());
  const auto& reported = agent_.last_step().report->preemption;
  ASSERT_TRUE(reported.has_value());
  EXPECT_EQ(reported->signal, SIGUSR1);
  EXPECT_EQ(reported->host, "a");
  EXPECT_EQ(reported->left, seconds(60));
  ASSERT_THAT(agent_.announced, SizeIs(1));
  EXPECT_EQ(agent_.announced[0].left, seconds(60));
  EXPECT_THAT(agent_.signals, ElementsAre(SIGTERM));
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kRunning);
}

TEST(LifecyclePreemptionTold, OnceWhereNodesShareTheirOutput) {
  const auto told = [](JobMessages job_messages) {
    Lifecycle::Config config = PreemptedConfig();
    config.policy.job_messages = job_messages;
    LifecycleFixture agent(config);
    agent.Run(1);
    agent.Step(SignalCaught{SIGUSR1});
    EXPECT_THAT(agent.announced, SizeIs(1));
    return agent.last_step().notices;
  };
  EXPECT_THAT(told(JobMessages::kAll), Contains(HasSubstr("being preempted")));
  EXPECT_THAT(told(JobMessages::kAssignedAndGeneral),
              Contains(HasSubstr("being preempted")));
  EXPECT_THAT(told(JobMessages::kAssigned), IsEmpty());
}

// The preemption file is written before the workers are signalled, because a
// signal handler may read the file.
TEST_F(LifecyclePreemption, TheFileComesBeforeTheSignal) {
  agent_.Run(1);
  agent_.Step(SignalCaught{SIGUSR1});
  const auto& actions = agent_.last_step().actions;
  ASSERT_THAT(actions, SizeIs(2));
  EXPECT_TRUE(std::holds_alternative<AnnouncePreemption>(actions[0]));
}

TEST_F(LifecyclePreemption, EveryLaterReportHasTheNotice) {
  agent_.Run(1);
  agent_.Step(SignalCaught{SIGUSR1});
  agent_.Wait(seconds(10));
  EXPECT_EQ(agent_.reports.back().preemption->left, seconds(50));
  agent_.Disconnect();
  agent_.Connect();
  EXPECT_EQ(agent_.reports.back().preemption->host, "a");
}

TEST_F(LifecyclePreemption, NoticeOfAnotherNodeIsPassedOnUnchanged) {
  agent_.Run(1);
  agent_.Forget();
  TellOfIt(1);
  EXPECT_THAT(agent_.signals, ElementsAre(SIGTERM));
  EXPECT_THAT(agent_.announced, SizeIs(1));
  EXPECT_EQ(agent_.reports.back().preemption->host, "b");
  EXPECT_EQ(agent_.reports.back().preemption->left, seconds(40));
  TellOfIt(1);
  EXPECT_THAT(agent_.announced, SizeIs(1)) << "it was told twice";
  EXPECT_THAT(agent_.signals, SizeIs(1));
}

TEST_F(LifecyclePreemption, WithoutASignalThereIsOnlyTheFile) {
  Lifecycle::Config config = PreemptedConfig();
  config.preempt_signal = 0;
  LifecycleFixture agent(config);
  agent.Run(1);
  agent.Forget();
  agent.Step(SignalCaught{SIGUSR1});
  EXPECT_THAT(agent.announced, SizeIs(1));
  EXPECT_THAT(agent.signals, IsEmpty());
}

TEST_F(LifecyclePreemption, WorkerKilledByThePreemptSignalHasNotFailed) {
  agent_.Run(1);
  agent_.Step(SignalCaught{SIGUSR1});
  Announced();
  agent_.Forget();
  Ends(0, rendezvous::FailureKind::kSignal, 0, SIGTERM);
  Ends(1, rendezvous::FailureKind::kExitCode, 128 + SIGTERM, 0);
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kRunning);
  agent_.Gone();
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kSucceeded);
  EXPECT_THAT(agent_.reports.back().failures, IsEmpty());
}

// Some clusters send the preemption signal to every process of a job. A worker
// killed by this signal has not failed.
TEST_F(LifecyclePreemption, WorkerKilledByTheClustersSignalHasNotFailed) {
  agent_.Run(1);
  agent_.Step(SignalCaught{SIGUSR1});
  Ends(0, rendezvous::FailureKind::kSignal, 0, SIGUSR1);
  EXPECT_THAT(agent_.reports.back().failures, IsEmpty());
}

// A worker that is itself a launcher exits with kPreemptedExitCode (75) if its
// own job was preempted and should be started again. This is not a failure.
TEST_F(LifecyclePreemption, WorkerThatExitsWithThePreemptedCodeHasNotFailed) {
  agent_.Run(1);
  agent_.Step(SignalCaught{SIGUSR1});
  Announced();
  Ends(0, rendezvous::FailureKind::kExitCode, rendezvous::kPreemptedExitCode,
       0);
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kRunning);
  Ends(1, rendezvous::FailureKind::kExitCode, rendezvous::kPreemptedExitCode,
       0);
  agent_.Gone();
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kSucceeded);
  EXPECT_THAT(agent_.reports.back().failures, IsEmpty());
}

TEST_F(LifecyclePreemption, BeforeTheNoticeThatCodeIsAFailure) {
  agent_.Run(1);
  Ends(0, rendezvous::FailureKind::kExitCode, rendezvous::kPreemptedExitCode,
       0);
  EXPECT_THAT(agent_.reports.back().failures, SizeIs(1));
}

TEST_F(LifecyclePreemption, AnotherEndIsAFailure) {
  agent_.Run(1);
  agent_.Step(SignalCaught{SIGUSR1});
  Ends(0, rendezvous::FailureKind::kExitCode, 3, 0);
  EXPECT_THAT(agent_.reports.back().failures, SizeIs(1));
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kStopping);
}

TEST_F(LifecyclePreemption, BeforeTheNoticeTheSameEndIsAFailure) {
  agent_.Run(1);
  Ends(0, rendezvous::FailureKind::kSignal, 0, SIGTERM);
  EXPECT_THAT(agent_.reports.back().failures, SizeIs(1));
}

// The round continues until the user's preemption command has ended; otherwise
// the cluster might kill the node while the command runs.
TEST_F(LifecyclePreemption, TheRoundIsOverWhenTheCommandIsAsWell) {
  agent_.Run(1);
  agent_.Step(SignalCaught{SIGUSR1});
  agent_.Down(0);
  agent_.Down(1);
  agent_.Gone();
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kRunning);
  Announced();
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kSucceeded);
}

TEST_F(LifecyclePreemption, TheCommandHasADeadline) {
  agent_.Run(1);
  agent_.Step(SignalCaught{SIGUSR1});
  agent_.Down(0);
  agent_.Down(1);
  agent_.Gone();
  // The user's preemption command may run for 70 s: 60 s of grace and 10 s of
  // shutdown time-out. Wait until 1 ms before this limit.
  agent_.Wait(milliseconds(69'999));
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kRunning);
  agent_.Wait(milliseconds(1));
  EXPECT_THAT(agent_.announcements_ended, ElementsAre("its time is over"));
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kSucceeded);
}

TEST_F(LifecyclePreemption, TheCommandIsEndedWithTheWorkers) {
  agent_.Run(1);
  agent_.Step(SignalCaught{SIGUSR1});
  agent_.TellStop(1, seconds(10));
  agent_.Wait(seconds(10));
  EXPECT_THAT(agent_.announcements_ended, SizeIs(1));
  EXPECT_THAT(agent_.everything, Contains(SIGKILL));
}

TEST_F(LifecyclePreemption, NodeDoesNotLeaveWhileTheCommandRuns) {
  agent_.Connect();
  agent_.TellWait();
  agent_.Step(SignalCaught{SIGUSR1});
  agent_.TellFinished(rendezvous::kPreemptedExitCode);
  EXPECT_FALSE(agent_.leave.has_value());
  Announced();
  ASSERT_TRUE(agent_.leave.has_value());
  EXPECT_EQ(agent_.leave->exit_code, rendezvous::kPreemptedExitCode);
}

TEST_F(LifecyclePreemption, NothingBeginsAfterTheNotice) {
  agent_.Connect();
  agent_.TellWait();
  agent_.Step(SignalCaught{SIGUSR1});
  // The coordinator sent this order to begin round 1 before it knew of the
  // preemption. The order must start no workers.
  agent_.TellRun(1);
  EXPECT_THAT(agent_.starts, IsEmpty());
}

TEST_F(LifecyclePreemption, ASecondSignalEndsTheGrace) {
  agent_.Run(1);
  agent_.Step(SignalCaught{SIGUSR1});
  agent_.Wait(seconds(5));
  agent_.Step(SignalCaught{SIGTERM});
  EXPECT_EQ(agent_.last_step().report->preemption->left, Duration::zero());
  EXPECT_FALSE(agent_.last_step().report->cancel.has_value());
}

// Slurm's step daemon and srun may both forward one preemption signal: a second
// signal within 2 s has no effect.
TEST_F(LifecyclePreemption, TheSameOrderMayComeTwice) {
  agent_.Run(1);
  agent_.Step(SignalCaught{SIGTERM});
  agent_.Wait(milliseconds(1999));
  agent_.Forget();
  agent_.Step(SignalCaught{SIGTERM});
  EXPECT_FALSE(agent_.last_step().report.has_value());
  EXPECT_THAT(agent_.signals, IsEmpty());
}

// After a preemption notice a silent worker is not suspected, because a last
// checkpoint takes longer than a step.
TEST_F(LifecyclePreemption, SilenceIsNoHangAnyMore) {
  Lifecycle::Config config = PreemptedConfig();
  config.policy.hangs = {HangDetection::kGiven, seconds(5)};
  LifecycleFixture agent(config);
  agent.Run(1);
  agent.Says(0);
  agent.Step(SignalCaught{SIGUSR1});
  agent.Wait(seconds(6));
  EXPECT_THAT(agent.stacks_asked, IsEmpty());
}

TEST_F(LifecyclePreemption, CtrlCStillStops) {
  agent_.Run(1);
  agent_.Step(SignalCaught{SIGUSR1});
  agent_.Step(SignalCaught{SIGINT});
  EXPECT_EQ(agent_.reports.back().cancel->signal, SIGINT);
  agent_.Step(SignalCaught{SIGINT});
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kStopping);
}

TEST_F(LifecyclePreemption, CtrlCEndsTheCommand) {
  agent_.Run(1);
  agent_.Step(SignalCaught{SIGUSR1});
  agent_.Step(SignalCaught{SIGINT});
  EXPECT_THAT(agent_.announcements_ended,
              ElementsAre("the job is being cancelled"));
}

TEST_F(LifecyclePreemption, ACancelElsewhereEndsTheCommand) {
  agent_.Run(1);
  agent_.Step(SignalCaught{SIGUSR1});
  rendezvous::Directive directive =
      DirectiveOf(rendezvous::DirectiveKind::kStop);
  directive.stop = {
      .round = 1, .signal = SIGTERM, .grace = seconds(10), .cancelled = true};
  agent_.Tell(directive);
  EXPECT_THAT(agent_.announcements_ended, SizeIs(1));
}

TEST_F(LifecyclePreemption, ACancelThatIsTheVerdictEndsTheCommand) {
  agent_.Run(1);
  agent_.Step(SignalCaught{SIGUSR1});
  rendezvous::Directive directive =
      DirectiveOf(rendezvous::DirectiveKind::kFinished);
  directive.verdict.outcome = rendezvous::Outcome::kCancelled;
  directive.stop = {.round = 1, .signal = SIGTERM, .grace = seconds(10)};
  agent_.Tell(directive);
  EXPECT_THAT(agent_.announcements_ended,
              ElementsAre("the job is being cancelled"));
}

TEST_F(LifecyclePreemption, AJobThatIsBeingCancelledRunsNoCommand) {
  agent_.Run(1);
  agent_.Step(SignalCaught{SIGINT});
  agent_.Step(SignalCaught{SIGUSR1});
  EXPECT_THAT(agent_.announced, IsEmpty());
}

// The user's preemption command may continue after a SIGTERM, because clusters
// send SIGTERM after their preemption notice.
TEST_F(LifecyclePreemption, SigtermLeavesTheCommandItsTime) {
  Lifecycle::Config config = PreemptedConfig();
  config.signals_to_preempt = {SIGUSR1};
  LifecycleFixture agent(config);
  agent.Run(1);
  agent.Step(SignalCaught{SIGUSR1});
  agent.Step(SignalCaught{SIGTERM});
  EXPECT_THAT(agent.announcements_ended, IsEmpty());
}

TEST_F(LifecyclePreemption, WithoutACoordinatorItEndsAtOnce) {
  agent_.Step(SignalCaught{SIGUSR1});
  Announced();
  ASSERT_TRUE(agent_.leave.has_value());
  EXPECT_EQ(agent_.leave->exit_code, rendezvous::kPreemptedExitCode);
  EXPECT_THAT(agent_.leave->reason, HasSubstr("without a coordinator"));
}

TEST_F(LifecyclePreemption, WorkersHaveTheirGraceWithoutACoordinator) {
  agent_.Run(1);
  agent_.Disconnect();
  agent_.Forget();
  agent_.Step(SignalCaught{SIGUSR1});
  EXPECT_THAT(agent_.signals, ElementsAre(SIGTERM));
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kRunning);
  // the coordinator is absent for the longest permitted time
  agent_.Wait(seconds(30));
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kStopping);
  Announced();
  agent_.Down(0);
  agent_.Down(1);
  agent_.Gone();
  EXPECT_EQ(agent_.leave->exit_code, rendezvous::kPreemptedExitCode);
}

// If the cluster has removed the coordinator, the agent itself stops its
// workers 5 s after the grace period, before the cluster kills them.
TEST(LifecyclePreemptionAlone, WorkersAreStoppedWhenTheGraceIsOver) {
  for (const bool connected : {false, true}) {
    Lifecycle::Config config = PreemptedConfig();
    config.policy.coordinator_timeout = std::chrono::hours(1);
    LifecycleFixture agent(config);
    agent.Run(1);
    if (!connected) agent.Disconnect();
    agent.Step(SignalCaught{SIGUSR1});
    agent.Step(PreemptionAnnounced());
    agent.Wait(seconds(65) - milliseconds(1));
    EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kRunning);
    agent.Wait(milliseconds(1));
    EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kStopping);
    agent.Down(0);
    agent.Down(1);
    agent.Gone();
    ASSERT_TRUE(agent.leave.has_value());
    EXPECT_EQ(agent.leave->exit_code, rendezvous::kPreemptedExitCode);
    EXPECT_THAT(agent.leave->reason, HasSubstr("the grace is over"));
  }
}

TEST(LifecyclePreemptionAlone, AStoppedNodeLeavesWithoutTheVerdict) {
  Lifecycle::Config config = PreemptedConfig();
  config.policy.coordinator_timeout = std::chrono::hours(1);
  LifecycleFixture agent(config);
  agent.Run(1);
  agent.Step(SignalCaught{SIGUSR1});
  agent.Step(PreemptionAnnounced());
  agent.AllDown();
  agent.Disconnect();
  // A preempted node without a coordinator exits after 80 s: 60 s of grace, 10
  // s for the shutdown of the other nodes, and twice 5 s for delays of the
  // coordinator. Wait until 1 ms before this limit.
  agent.Wait(seconds(60 + 10 + 10) - milliseconds(1));
  EXPECT_FALSE(agent.leave.has_value());
  agent.Wait(milliseconds(1));
  ASSERT_TRUE(agent.leave.has_value());
  EXPECT_EQ(agent.leave->exit_code, rendezvous::kPreemptedExitCode);
}

// A restarted coordinator knows of no running round and sends the verdict at
// once. The workers keep their grace period nevertheless.
TEST_F(LifecyclePreemption, TheVerdictDoesNotTakeTheGraceAway) {
  agent_.Run(1);
  agent_.Step(SignalCaught{SIGUSR1});
  Announced();
  rendezvous::Directive directive =
      DirectiveOf(rendezvous::DirectiveKind::kFinished);
  directive.verdict.outcome = rendezvous::Outcome::kPreempted;
  directive.verdict.exit_code = rendezvous::kPreemptedExitCode;
  directive.stop.grace = seconds(10);
  agent_.Tell(directive);
  agent_.Wait(milliseconds(59'999));
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kRunning);
  agent_.Wait(milliseconds(1));
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kStopping);
  agent_.Down(0);
  agent_.Down(1);
  agent_.Gone();
  EXPECT_EQ(agent_.leave->exit_code, rendezvous::kPreemptedExitCode);
}

TEST_F(LifecyclePreemption, AnotherVerdictDoes) {
  agent_.Run(1);
  agent_.Step(SignalCaught{SIGUSR1});
  agent_.TellFinished(130);
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kStopping);
}

TEST_F(LifecyclePreemption, OtherSignalsAreWhatTheyWere) {
  agent_.Run(1);
  agent_.Step(SignalCaught{SIGCONT});
  agent_.Step(SignalCaught{SIGUSR2});
  EXPECT_THAT(agent_.announced, IsEmpty());
  EXPECT_THAT(agent_.reports.back().signals, SizeIs(2));
}

TEST_F(LifecyclePreemption, TheNodeThatActsForTheJobKnowsIt) {
  agent_.Connect();
  rendezvous::Directive directive =
      DirectiveOf(rendezvous::DirectiveKind::kFinished);
  directive.acts_for_job = true;
  agent_.Tell(directive);
  ASSERT_TRUE(agent_.leave.has_value());
  EXPECT_TRUE(agent_.leave->acts_for_job);
}

}  // namespace
}  // namespace muster::agent
