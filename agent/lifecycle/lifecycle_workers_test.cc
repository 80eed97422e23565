// Tests of how workers are started and stopped, of failing workers, and of the
// removal of processes that workers leave behind. Further tests: when a node
// releases the clients that wait in a round's store; and whether the worker
// itself, a signal of Muster, or an earlier exception of the worker is recorded
// as the cause of a worker's exit.
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

TEST(LifecycleWorkers, RunDirectiveStartsThemOnce) {
  LifecycleFixture agent;
  agent.Connect();
  agent.TellRun(1);
  ASSERT_EQ(agent.starts.size(), 1u);
  EXPECT_EQ(agent.starts[0].round, 1);
  EXPECT_EQ(agent.starts[0].first_rank, 2);
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kRunning);
  EXPECT_EQ(agent.reports.back().phase, rendezvous::NodePhase::kRunning);
  EXPECT_EQ(agent.reports.back().round, 1);
  EXPECT_THAT(agent.notices,
              Contains("round 1: node 1 of 2 with ranks 2-3 of 4"));
  agent.TellRun(1);
  EXPECT_EQ(agent.starts.size(), 1u);
}

TEST(LifecycleWorkers, ARestartIsSaid) {
  Lifecycle::Config config = LifecycleFixture::QuickConfig();
  config.node.slots = 1;
  LifecycleFixture agent(config);
  agent.Connect();
  rendezvous::Directive directive =
      DirectiveOf(rendezvous::DirectiveKind::kRun);
  directive.place.round = 4;
  directive.place.restart_count = 2;
  agent.Tell(directive);
  EXPECT_THAT(agent.notices, ElementsAre("round 4: node 0 of 1 with rank 0 of "
                                         "1, restart 2"));
}

TEST(LifecycleWorkers, SucceedWhenAllHaveAndNothingIsLeft) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Down(0);
  EXPECT_THAT(agent.signals, IsEmpty());
  agent.Down(1);
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kRunning);
  // SIGTERM was sent to the processes that outlive the workers.
  EXPECT_THAT(agent.everything, ElementsAre(SIGTERM));
  agent.Gone();
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kSucceeded);
  EXPECT_EQ(agent.reports.back().phase, rendezvous::NodePhase::kSucceeded);
  EXPECT_THAT(agent.reports.back().failures, IsEmpty());
}

TEST(LifecycleWorkers, OrphansThatWillNotGoAreKilledAfterTheGrace) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Down(0);
  agent.Down(1);
  agent.Wait(milliseconds(9999));
  EXPECT_THAT(agent.everything, ElementsAre(SIGTERM));
  agent.Wait(milliseconds(1));
  EXPECT_THAT(agent.everything, ElementsAre(SIGTERM, SIGKILL));
  agent.Gone();
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kSucceeded);
  agent.Wait(seconds(5));
  EXPECT_EQ(agent.everything.size(), 2u);
}

TEST(LifecycleWorkers, LeftoversOfASucceededWorkerGiveANotice) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Down(0);
  agent.Down(1);
  agent.Step(WorkersGone{{{2, "sh"}, {3, "tee"}, {2, "sleep"}, {-1, "x"}}});
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kSucceeded);
  EXPECT_THAT(
      agent.losses,
      ElementsAre("1 process that the workers left behind was stopped: x",
                  "2 processes that rank 2 left behind were stopped: sh, sleep",
                  "1 process that rank 3 left behind was stopped: tee"));
}

TEST(LifecycleWorkers, LeftoversOfAFailedWorkerGiveNoNotice) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Down(0);
  agent.Fails(1);
  agent.Step(WorkersGone{{{2, "sh"}}});
  EXPECT_THAT(agent.losses, IsEmpty());
}

TEST(LifecycleWorkers, AFailureStopsTheOthersAndIsReported) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Forget();
  agent.Fails(1);
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kStopping);
  EXPECT_THAT(agent.signals, ElementsAre(SIGTERM));
  ASSERT_EQ(agent.reports.size(), 1u);
  EXPECT_EQ(agent.reports[0].phase, rendezvous::NodePhase::kStopping);
  ASSERT_EQ(agent.reports[0].failures.size(), 1u);
  EXPECT_EQ(agent.reports[0].failures[0].rank, 3);
  EXPECT_EQ(agent.reports[0].failures[0].kind,
            rendezvous::FailureKind::kExitCode);
  EXPECT_THAT(agent.notices, ElementsAre("rank 3 (local rank 1) failed: "
                                         "exit code 3"));
  // Worker 0 exits because of the SIGTERM that Muster sent after worker 1 had
  // failed. The exit of worker 0 is not reported before all workers are gone.
  agent.Fails(0, rendezvous::FailureKind::kSignal);
  EXPECT_EQ(agent.reports.size(), 1u);
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kStopping);
  agent.Gone();
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kIdle);
  EXPECT_EQ(agent.reports.back().phase, rendezvous::NodePhase::kIdle);
  ASSERT_EQ(agent.reports.back().failures.size(), 2u);
  EXPECT_EQ(agent.reports.back().failures[1].kind,
            rendezvous::FailureKind::kStoppedByUs);
}

TEST(LifecycleWorkers, HowTheyEndedIsKeptWhenTheFirstFailsAndWhenAllHaveEnded) {
  LifecycleFixture agent;
  agent.Run(1);
  rendezvous::Failure killed;
  killed.kind = rendezvous::FailureKind::kSignal;
  killed.local_rank = 1;
  killed.message = "killed by SIGKILL (9)";
  killed.traceback = "long";
  killed.stderr_tail = {"words"};
  agent.Step(WorkerDown{1, killed});
  ASSERT_EQ(agent.ends.size(), 1u) << "at once";
  ASSERT_EQ(agent.ends[0].size(), 1u);
  EXPECT_EQ(agent.ends[0][0].kind, rendezvous::FailureKind::kSignal);
  EXPECT_EQ(agent.ends[0][0].message, "killed by SIGKILL (9)");
  EXPECT_EQ(agent.ends[0][0].traceback, "");
  EXPECT_THAT(agent.ends[0][0].stderr_tail, IsEmpty());
  agent.Fails(0, rendezvous::FailureKind::kSignal);
  EXPECT_EQ(agent.ends.size(), 1u);
  agent.Gone();
  ASSERT_EQ(agent.ends.size(), 2u);
  ASSERT_EQ(agent.ends[1].size(), 2u);
  EXPECT_EQ(agent.ends[1][0].local_rank, 1);
  EXPECT_EQ(agent.ends[1][1].kind, rendezvous::FailureKind::kStoppedByUs);
  agent.Forget();
  agent.TellRun(2);
  agent.Up(0);
  agent.Up(1);
  agent.AllDown();
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kSucceeded);
  EXPECT_THAT(agent.ends, IsEmpty()) << "those were the last round's";
}

TEST(LifecycleWorkers, AFailureAfterASuccessIsNoSuccess) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Down(0);
  agent.Fails(1);
  agent.Gone();
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kIdle);
}

TEST(LifecycleWorkers, NothingIsLeftOnlyWhenEveryWorkerHasEnded) {
  LifecycleFixture agent;
  agent.Connect();
  agent.TellRun(1);
  agent.Up(0);
  agent.Fails(0);
  // The event WorkersGone arrives before the second worker has started. The
  // node must still wait for the second worker.
  agent.Gone();
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kStopping);
  agent.Up(1);
  agent.Fails(1);
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kStopping);
  agent.Gone();
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kIdle);
}

TEST(LifecycleWorkers, NotOneCouldBeStarted) {
  LifecycleFixture agent;
  agent.Connect();
  agent.TellRun(1);
  agent.Fails(0, rendezvous::FailureKind::kStartFailed);
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kStopping);
  agent.Fails(1, rendezvous::FailureKind::kStartFailed);
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kIdle);
  EXPECT_EQ(agent.reports.back().failures[0].kind,
            rendezvous::FailureKind::kStartFailed);
}

TEST(LifecycleWorkers, TheFirstDiedTooEarlyAndTheSecondCouldNotBeStarted) {
  LifecycleFixture agent;
  agent.Connect();
  agent.TellRun(1);
  agent.Up(0);
  agent.Fails(0);
  agent.Gone();
  agent.Fails(1, rendezvous::FailureKind::kStartFailed);
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kIdle);
}

TEST(LifecycleWorkers, FailedStartStopsTheOtherWorker) {
  LifecycleFixture agent;
  agent.Connect();
  agent.TellRun(1);
  agent.Up(0);
  agent.Fails(1, rendezvous::FailureKind::kStartFailed);
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kStopping);
  EXPECT_THAT(agent.signals, ElementsAre(SIGTERM));
  agent.Fails(0);
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kStopping);
  agent.Gone();
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kIdle);
}

TEST(LifecycleWorkers, AReportHoldsABoundedNumberOfFailures) {
  Lifecycle::Config config = LifecycleFixture::QuickConfig();
  config.node.slots = 100;
  LifecycleFixture agent(config);
  agent.Connect();
  agent.TellRun(1);
  for (int i = 0; i < 100; ++i) agent.Up(i);
  for (int i = 0; i < 100; ++i) agent.Fails(i);
  agent.Gone();
  EXPECT_EQ(agent.reports.back().failures.size(),
            static_cast<size_t>(rendezvous::kMaxFailuresPerReport));
}

TEST(LifecycleStop, SignalsThenKillsAfterTheGrace) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.TellStop(1, seconds(3));
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kStopping);
  EXPECT_THAT(agent.signals, ElementsAre(SIGTERM));
  EXPECT_THAT(agent.everything, IsEmpty());
  EXPECT_THAT(agent.notices, Contains("round 1 is broken (rank 0 on b: exit "
                                      "code 3); stopping the workers"));
  agent.Wait(milliseconds(2999));
  EXPECT_THAT(agent.signals, ElementsAre(SIGTERM));
  agent.Wait(milliseconds(1));
  EXPECT_THAT(agent.signals, ElementsAre(SIGTERM, SIGKILL));
  EXPECT_THAT(agent.everything, ElementsAre(SIGKILL));
}

TEST(LifecycleStop, KillsAgainEachSecondWhileSomethingIsLeft) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.TellStop(1, seconds(0));
  // Without a grace period SIGKILL is the first signal.
  EXPECT_THAT(agent.signals, ElementsAre(SIGKILL));
  agent.Fails(0, rendezvous::FailureKind::kSignal);
  agent.TellStop(1, seconds(0));
  EXPECT_THAT(agent.signals, ElementsAre(SIGKILL));
  agent.Wait(milliseconds(2999));
  EXPECT_THAT(agent.signals, ElementsAre(SIGKILL, SIGKILL, SIGKILL));
  agent.Fails(1, rendezvous::FailureKind::kSignal);
  // The last worker has exited now. The descendants that it may have left get
  // SIGTERM before the next SIGKILL.
  EXPECT_EQ(agent.signals.back(), SIGTERM);
  agent.Gone();
  agent.Wait(seconds(5));
  EXPECT_EQ(agent.signals.size(), 4u);
}

TEST(LifecycleStop, LeftoversThatIgnoredTheFirstSignalGetSigterm) {
  // Processes that the workers leave behind may have ignored the first signal;
  // background jobs of a shell ignore SIGINT. Such processes get SIGTERM after
  // the last worker's exit.
  LifecycleFixture agent;
  agent.Run(1);
  agent.TellStop(1, seconds(8));
  agent.Fails(0, rendezvous::FailureKind::kSignal);
  EXPECT_THAT(agent.everything, ElementsAre());
  agent.Fails(1, rendezvous::FailureKind::kSignal);
  EXPECT_THAT(agent.everything, ElementsAre(SIGTERM));
  agent.Wait(seconds(8));
  EXPECT_THAT(agent.everything, ElementsAre(SIGTERM, SIGKILL));
}

TEST(LifecycleStop, ALaterOrderMayShortenTheGraceButNotLengthenIt) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.TellStop(1, seconds(8));
  agent.Wait(seconds(2));
  agent.TellStop(1, seconds(30));
  agent.Wait(seconds(3));
  EXPECT_THAT(agent.signals, ElementsAre(SIGTERM));
  agent.TellStop(1, seconds(1));
  agent.Wait(seconds(1));
  EXPECT_THAT(agent.signals, ElementsAre(SIGTERM, SIGKILL));
}

TEST(LifecycleStop, TheSameOrderAgainDoesNotRestartTheGrace) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.TellStop(1, seconds(8));
  for (int i = 0; i < 7; ++i) {
    agent.Wait(seconds(1));
    agent.TellStop(1, seconds(8));
  }
  agent.Wait(seconds(1));
  EXPECT_THAT(agent.signals, ElementsAre(SIGTERM, SIGKILL));
}

TEST(LifecycleStop, StopOfAnEarlierRoundHasNoEffect) {
  LifecycleFixture agent;
  agent.Run(5);
  agent.TellStop(4);
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kRunning);
  EXPECT_THAT(agent.signals, IsEmpty());
}

TEST(LifecycleStop, IsConfirmedEvenIfThereIsNothingToStop) {
  LifecycleFixture agent;
  agent.Connect();
  agent.TellWait();
  agent.Forget();
  agent.TellStop(3);
  ASSERT_EQ(agent.reports.size(), 1u);
  EXPECT_EQ(agent.reports[0].seen_revision, 2u);
  EXPECT_EQ(agent.reports[0].phase, rendezvous::NodePhase::kIdle);
}

TEST(LifecycleStop, DuringTheSweepOfASuccessStartsItsOwnGrace) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Down(0);
  agent.Down(1);
  // 10 s after the last worker's exit, the leftover processes get SIGKILL.
  agent.Wait(milliseconds(10'500));
  agent.TellStop(1, seconds(2));
  agent.Forget();
  agent.Wait(seconds(2));
  EXPECT_THAT(agent.everything, ElementsAre(SIGKILL));
  agent.Gone();
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kIdle);
}

TEST(LifecycleStop, WaitDirectiveStopsRunningWorkers) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.TellWait();
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kStopping);
  EXPECT_THAT(agent.signals, ElementsAre(SIGTERM));
}

TEST(LifecycleRounds, TheNextOneStartsOnlyWhenNothingIsLeftOfThis) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Forget();
  agent.TellRun(2);  // the order to stop round 1 was lost
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kStopping);
  EXPECT_THAT(agent.signals, ElementsAre(SIGTERM));
  agent.Fails(0);
  agent.Fails(1);
  EXPECT_THAT(agent.starts, IsEmpty());
  agent.Gone();
  ASSERT_EQ(agent.starts.size(), 1u);
  EXPECT_EQ(agent.starts[0].round, 2);
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kRunning);
  EXPECT_THAT(agent.reports.back().failures, IsEmpty());
}

TEST(LifecycleRounds, TheNextOneAfterASuccess) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.AllDown();
  agent.TellRun(2);
  ASSERT_EQ(agent.starts.size(), 2u);
  EXPECT_EQ(agent.lifecycle().round(), 2);
}

TEST(LifecycleRounds, FinishedRoundIsNotRunAgain) {
  LifecycleFixture agent;
  agent.Run(3);
  agent.Fails(0);
  agent.Fails(1);
  agent.Gone();
  agent.TellRun(3);
  agent.TellRun(2);
  EXPECT_EQ(agent.starts.size(), 1u);
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kIdle);
}

TEST(LifecycleSignals, AreForwardedOnceToRunningWorkers) {
  LifecycleFixture agent;
  agent.Run(1);
  rendezvous::Directive directive =
      DirectiveOf(rendezvous::DirectiveKind::kRun);
  directive.place.round = 1;
  directive.signals = {{.ordinal = 4, .signal = SIGUSR1}};
  agent.Tell(directive);
  EXPECT_THAT(agent.signals, ElementsAre(SIGUSR1));
  EXPECT_THAT(agent.everything, IsEmpty());
  directive.signals.push_back({.ordinal = 5, .signal = SIGUSR2});
  agent.Tell(directive);
  agent.Wait(seconds(3));
  EXPECT_THAT(agent.signals, ElementsAre(SIGUSR1, SIGUSR2));
}

TEST(LifecycleSignals, DoNotReachStoppingWorkers) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Fails(0);
  agent.Forget();
  rendezvous::Directive directive =
      DirectiveOf(rendezvous::DirectiveKind::kRun);
  directive.place.round = 1;
  directive.signals = {{.ordinal = 1, .signal = SIGUSR1}};
  agent.Tell(directive);
  EXPECT_THAT(agent.signals, IsEmpty());
}

TEST(LifecycleSignals, CaughtHereAreReported) {
  Lifecycle::Config config = LifecycleFixture::QuickConfig();
  config.policy.signals_to_forward = {SIGUSR1, SIGUSR2};
  LifecycleFixture agent(config);
  agent.Run(1);
  agent.Forget();
  agent.Step(SignalCaught{SIGUSR1});
  ASSERT_EQ(agent.reports.size(), 1u);
  ASSERT_EQ(agent.reports[0].signals.size(), 1u);
  EXPECT_EQ(agent.reports[0].signals[0].ordinal, 1u);
  EXPECT_EQ(agent.reports[0].signals[0].signal, SIGUSR1);
  // A job-wide signal is forwarded to the workers only when the coordinator
  // orders it.
  EXPECT_THAT(agent.signals, IsEmpty());
  for (int i = 0; i < 20; ++i) agent.Step(SignalCaught{SIGUSR2});
  ASSERT_EQ(agent.reports.back().signals.size(),
            static_cast<size_t>(rendezvous::kMaxSignalNotices));
  EXPECT_EQ(agent.reports.back().signals.back().ordinal, 21u);
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LifecycleStore, AFailureHereReleasesOnceWithItsReason) {
  LifecycleFixture agent;
  agent.Run(1);
  EXPECT_THAT(agent.closed_stores, IsEmpty());
  agent.Fails(0);
  agent.Fails(1);
  agent.TellStop(1);
  EXPECT_THAT(agent.closed_stores, ElementsAre("exit code 3"));
}

TEST(LifecycleStore, AFailureElsewhereReleasesBeforeTheWorkersAreSignalled) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.TellStop(1);
  EXPECT_THAT(agent.closed_stores, ElementsAre("rank 0 on b: exit code 3"));
  ASSERT_EQ(agent.last_step().actions.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<CloseStore>(agent.last_step().actions[0]));
}

TEST(LifecycleStore, StoreIsClosedAfterAStopAlthoughOwnWorkersSucceeded) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.AllDown();
  ASSERT_EQ(agent.phase(), rendezvous::NodePhase::kSucceeded);
  EXPECT_THAT(agent.closed_stores, IsEmpty());
  agent.TellStop(1);
  EXPECT_THAT(agent.closed_stores, ElementsAre("rank 0 on b: exit code 3"));
}

// If a user stops the job and no node is lost, the store stays open, because
// workers may need it for a last checkpoint.
TEST(LifecycleStore, AnOrderlyStopKeepsTheStore) {
  LifecycleFixture agent;
  agent.Run(1);
  rendezvous::Directive directive =
      DirectiveOf(rendezvous::DirectiveKind::kStop);
  directive.stop = {.round = 1,
                    .signal = 15,
                    .grace = std::chrono::seconds(10),
                    .cause = rendezvous::StopCause::kAsked};
  agent.Tell(directive);
  EXPECT_THAT(agent.signals, ElementsAre(15));
  EXPECT_THAT(agent.closed_stores, IsEmpty());
}

TEST(LifecycleStore, AStopOfAnEarlierRoundDoesNotTouchThisOnes) {
  LifecycleFixture agent;
  agent.Run(2);
  agent.TellStop(1);
  EXPECT_THAT(agent.closed_stores, IsEmpty());
}

TEST(LifecycleStore, EachRoundIsReleasedAnew) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.TellStop(1);
  agent.Fails(0);
  agent.Fails(1);
  agent.Gone();
  agent.TellRun(2);
  agent.Up(0);
  agent.Fails(0);
  EXPECT_THAT(agent.closed_stores,
              ElementsAre("rank 0 on b: exit code 3", "exit code 3"));
}

TEST(LifecycleStore, WaitDirectiveClosesTheStore) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.TellWait();
  EXPECT_THAT(agent.closed_stores, ElementsAre("1 of 2 nodes here"));
}

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LifecycleEnds, AStoppedWorkerThatHadRecordedItsExceptionRaisedFirst) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Wait(seconds(5));
  agent.FailsAfterRecording(1, milliseconds(100));
  agent.Wait(seconds(2));
  agent.FailsAfterRecording(0, milliseconds(2200));
  agent.Gone();
  ASSERT_EQ(agent.reports.back().failures.size(), 2u);
  EXPECT_FALSE(agent.reports.back().failures[0].raised_first);
  const rendezvous::Failure& stopped = agent.reports.back().failures[1];
  EXPECT_EQ(stopped.kind, rendezvous::FailureKind::kStoppedByUs);
  EXPECT_TRUE(stopped.raised_first);
}

TEST(LifecycleEnds, AnExceptionAfterTheFirstFailuresDidNotComeFirst) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Wait(seconds(5));
  agent.FailsAfterRecording(1, milliseconds(100));
  agent.Wait(seconds(2));
  agent.FailsAfterRecording(0, milliseconds(2100));
  agent.Gone();
  EXPECT_FALSE(agent.reports.back().failures[1].raised_first);
}

// Worker 1 fails without an error file. Such a failure may have happened up to
// 1 s before it was noticed. Worker 0 exits 2 s later. Its error file has an
// exception that was recorded `ago` milliseconds before this exit. So the
// exception counts as the first failure only if `ago` is more than 3 s.
TEST(LifecycleEnds, AFailureWithoutARecordMayBeASecondOld) {
  for (const int ago : {3000, 3001}) {
    LifecycleFixture agent;
    agent.Run(1);
    agent.Wait(seconds(5));
    agent.Fails(1);
    agent.Wait(seconds(2));
    agent.FailsAfterRecording(0, milliseconds(ago));
    agent.Gone();
    EXPECT_EQ(agent.reports.back().failures[1].raised_first, ago == 3001)
        << ago;
  }
}

TEST(LifecycleEnds, AnExceptionBeforeTheOrderToStopRaisedFirst) {
  for (const int ago : {2000, 2001}) {
    LifecycleFixture agent;
    agent.Run(1);
    agent.Wait(seconds(5));
    agent.TellStop(1);
    agent.Wait(seconds(2));
    agent.FailsAfterRecording(0, milliseconds(ago));
    agent.Down(1);
    agent.Gone();
    EXPECT_EQ(agent.reports.back().failures[0].raised_first, ago == 2001)
        << ago;
  }
}

TEST(LifecycleEnds, FailureBeforeOurSignalKeepsItsKind) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.FailsByItself(1);
  agent.FailsByItself(0);
  agent.Gone();
  ASSERT_EQ(agent.reports.back().failures.size(), 2u);
  EXPECT_EQ(agent.reports.back().failures[1].kind,
            rendezvous::FailureKind::kExitCode);
}

// While the whole job is being stopped, no worker's exit counts as a failure.
// The cluster or the terminal may have sent the workers the signal that stops
// the job.
TEST(LifecycleEnds, WhileTheJobIsStoppedNoEndIsAFailure) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.TellStop(1);
  agent.FailsByItself(1);
  agent.FailsByItself(0);
  agent.Gone();
  for (const rendezvous::Failure& failure : agent.reports.back().failures) {
    EXPECT_EQ(failure.kind, rendezvous::FailureKind::kStoppedByUs);
  }
}

TEST(LifecycleEnds, ARoundThatCannotBeServedIsTheNodesFailure) {
  LifecycleFixture agent;
  agent.Connect();
  agent.TellRun(1);
  agent.Forget();
  agent.Step(RoundRefused{"port 29480 is taken on a"});
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kIdle);
  const rendezvous::Report& report = agent.reports.back();
  EXPECT_EQ(report.phase, rendezvous::NodePhase::kIdle);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].kind, rendezvous::FailureKind::kStartFailed);
  EXPECT_EQ(report.failures[0].rank, -1);
  EXPECT_EQ(report.failures[0].exit_code, 1);
  EXPECT_EQ(report.failures[0].message, "port 29480 is taken on a");
  EXPECT_THAT(agent.closed_stores, ElementsAre("port 29480 is taken on a"));
  EXPECT_THAT(agent.notices, IsEmpty()) << "the verdict says it";
}

TEST(LifecycleEnds, FailedStartIsNotCountedAsStopped) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Fails(1, rendezvous::FailureKind::kStartFailed);
  agent.Fails(0, rendezvous::FailureKind::kStartFailed);
  agent.Gone();
  ASSERT_EQ(agent.reports.back().failures.size(), 2u);
  EXPECT_EQ(agent.reports.back().failures[1].kind,
            rendezvous::FailureKind::kStartFailed);
}

}  // namespace
}  // namespace muster::agent
