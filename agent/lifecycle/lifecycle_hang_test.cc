// Tests of silent workers, which are suspected, examined and reported as hung.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "agent/lifecycle/lifecycle_fixture.h"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;

Lifecycle::Config ThirtySeconds() {
  Lifecycle::Config config = LifecycleFixture::QuickConfig();
  config.policy.hangs = {HangDetection::kGiven, seconds(30)};
  return config;
}

// A node whose two workers have reported step 1200: rank 3 (local rank 1), and
// 10 ms later rank 2 (local rank 0). The deadline of both is 30 s.
class LifecycleHang : public ::testing::Test {
 protected:
  LifecycleHang() : agent_(ThirtySeconds()) {
    agent_.Run(1);
    agent_.Says(1, {.step = 1200});
    agent_.Wait(milliseconds(10));
    agent_.Says(0, {.step = 1200});
    agent_.Forget();
  }

  void FallSilent() {
    agent_.Wait(seconds(30) - milliseconds(10));
    ASSERT_EQ(agent_.stacks_asked.size(), 1u);
  }
  StackTaken Taken(int local_rank = 1, int round = 1) {
    return {.round = round,
            .local_rank = local_rank,
            .stack = {"main (train.py:7)"},
            .stderr_tail = {"last words"},
            .unix_time = 1e9};
  }

  LifecycleFixture agent_;
};

TEST_F(LifecycleHang, SilenceWithinTheDeadlineIsNoHang) {
  agent_.Wait(seconds(30) - milliseconds(11));
  EXPECT_THAT(agent_.stacks_asked, IsEmpty());
}

// After the node was suspended for 10 minutes and resumed, no worker is
// suspected, and the deadlines move by the lost time.
TEST_F(LifecycleHang, AStandstillOfTheNodeIsNoHang) {
  const Duration to_next = *agent_.lifecycle().NextDeadline() - agent_.now();
  agent_.PassTimeSuspended(to_next + minutes(10));
  agent_.Step(ClockTicked());
  const Duration left = seconds(30) - milliseconds(10) - to_next;
  agent_.Wait(left - milliseconds(1));
  EXPECT_THAT(agent_.stacks_asked, IsEmpty());
  // The time for which the agent was suspended does not count. Without it, the
  // workers' deadline of 30 s has passed now: a worker is suspected, and its
  // stack is requested.
  agent_.Wait(milliseconds(1));
  EXPECT_EQ(agent_.stacks_asked.size(), 1u);
}

TEST_F(LifecycleHang, SuspensionBeforeTheStackComesReportsNoHang) {
  FallSilent();
  agent_.PassTimeSuspended(minutes(1));
  agent_.Step(ClockTicked());
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kRunning);
  agent_.Says(0);
  agent_.Says(1);
  agent_.Wait(seconds(15));
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kRunning);
}

// A call of Step that is 100 ms late, as on a busy machine, does not count as a
// suspension, and the workers' deadlines do not move.
TEST_F(LifecycleHang, AStepThatIsALittleLateForgivesNothing) {
  const Duration to_next = *agent_.lifecycle().NextDeadline() - agent_.now();
  agent_.PassTimeSuspended(to_next + milliseconds(100));
  agent_.Step(ClockTicked());
  agent_.Wait(seconds(30) - milliseconds(110) - to_next);
  EXPECT_EQ(agent_.stacks_asked.size(), 1u);
}

TEST_F(LifecycleHang, StackIsRequestedBeforeWorkersAreStopped) {
  FallSilent();
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kRunning);
  EXPECT_THAT(agent_.signals, IsEmpty());
  const TakeStacks& take = agent_.stacks_asked[0];
  EXPECT_EQ(take.round, 1);
  ASSERT_EQ(take.workers.size(), 2u);
  EXPECT_EQ(take.workers[0].local_rank, 1);
  EXPECT_EQ(take.workers[0].pid, 101);
  EXPECT_EQ(take.workers[1].local_rank, 0);
  EXPECT_THAT(agent_.notices,
              Contains("rank 3 (local rank 1, pid 101) hung: silent for 30 s "
                       "(its deadline is 30 s), last step 1200; 2 ranks of "
                       "this node fell silent within 10 ms of each other, and "
                       "the first need not be the cause: with --log-dir, "
                       "`launch inspect` shows who waited for whom; looking at "
                       "where it is"));
}

TEST_F(LifecycleHang, StoppedWorkerIsSuspectedFirst) {
  agent_.seen->workers = {{0, WorkerState::kStopped}, {1, WorkerState::kOther}};
  FallSilent();
  ASSERT_EQ(agent_.looks.size(), 1u);
  ASSERT_EQ(agent_.looks[0].workers.size(), 2u);
  EXPECT_EQ(agent_.looks[0].workers[0].pid, 100);
  EXPECT_EQ(agent_.looks[0].workers[1].local_rank, 1);
  EXPECT_EQ(agent_.stacks_asked[0].workers[0].local_rank, 0);
  EXPECT_EQ(agent_.stacks_asked[0].workers[1].local_rank, 1);
  // Worker 0 is suspected to hang. A report of worker 1, or the stack of worker
  // 1, does not change this.
  agent_.Says(1);
  agent_.Step(Taken(/*local_rank=*/1));
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kRunning);
  agent_.Wait(seconds(2));
  agent_.Step(Taken(/*local_rank=*/0));
  ASSERT_EQ(agent_.reports.back().failures.size(), 1u);
  const rendezvous::Failure& failure = agent_.reports.back().failures[0];
  EXPECT_EQ(failure.rank, 2);
  EXPECT_EQ(failure.pid, 100);
  EXPECT_EQ(failure.signal, SIGSTOP);
  EXPECT_EQ(failure.silent_for, seconds(32) - milliseconds(10));
  EXPECT_EQ(failure.message,
            "hung: silent for 29.9 s (its deadline is 30 s), last step 1200; "
            "it is stopped by a signal, such as SIGSTOP");
  // agent_.signals: the signal to all workers; the peers of the hung worker get
  // a grace period. agent_.to_one: the hung worker also gets SIGKILL.
  EXPECT_THAT(agent_.signals, ElementsAre(SIGTERM));
  EXPECT_THAT(agent_.to_one, ElementsAre(Pair(0, SIGKILL)));
}

// A hang on another node breaks the round. Before this node ends its workers,
// it looks for a worker that SIGSTOP has suspended. If that worker has been
// silent for half of its hang time-out, the node reports it as hung.
TEST_F(LifecycleHang, StoppedWorkerIsReportedInABrokenRound) {
  for (const int before : {10, 16000}) {
    LifecycleFixture agent(ThirtySeconds());
    agent.seen->workers = {{0, WorkerState::kStopped},
                           {1, WorkerState::kUninterruptible}};
    agent.Run(1);
    agent.Says(1);
    agent.Says(0);
    agent.Wait(seconds(30) - milliseconds(before));
    agent.TellStop(1);
    EXPECT_EQ(agent.looks.size(), 1u);
    EXPECT_THAT(agent.signals, ElementsAre(SIGTERM));
    // The workers' deadline is 30 s of silence. Worker 0 was stopped by
    // SIGSTOP. The round is stopped `before` milliseconds before the deadline.
    // The agent requests worker 0's stack only if worker 0 has been silent for
    // at least half of the deadline: after 29.99 s (`before` is 10), but not
    // after 14 s (`before` is 16000).
    ASSERT_EQ(agent.stacks_asked.size(), before == 10 ? 1u : 0u);
    agent.Step(Taken(/*local_rank=*/0));
    const std::vector<rendezvous::Failure>& failures =
        agent.reports.back().failures;
    ASSERT_EQ(failures.size(), before == 10 ? 1u : 0u);
    if (failures.empty()) continue;
    EXPECT_EQ(failures[0].kind, rendezvous::FailureKind::kHung);
    EXPECT_EQ(failures[0].rank, 2);
    EXPECT_EQ(failures[0].signal, SIGSTOP);
    EXPECT_EQ(failures[0].silent_for, seconds(30) - milliseconds(10));
    EXPECT_THAT(agent.to_one, ElementsAre(Pair(0, SIGKILL)));
  }
}

TEST_F(LifecycleHang, RunningWorkerIsNotReportedInABrokenRound) {
  agent_.seen->workers = {{0, WorkerState::kUninterruptible}};
  agent_.Wait(seconds(29));
  agent_.TellStop(1);
  EXPECT_THAT(agent_.stacks_asked, IsEmpty());
  agent_.Fails(1, rendezvous::FailureKind::kSignal);
  agent_.Fails(0, rendezvous::FailureKind::kSignal);
  agent_.Gone();
  agent_.Step(WorkersSeen{.round = 1, .workers = {{0, WorkerState::kStopped}}});
  EXPECT_THAT(agent_.stacks_asked, IsEmpty());
}

TEST_F(LifecycleHang, ALookThatFindsNothingOutDoesNotSaveTheFirst) {
  agent_.seen.reset();
  agent_.Wait(seconds(45) - milliseconds(11));
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kRunning);
  agent_.Wait(milliseconds(1));
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kStopping);
  EXPECT_EQ(agent_.reports.back().failures[0].rank, 3);
}

TEST_F(LifecycleHang, OnlyTheFirstLookOfThisRoundCounts) {
  agent_.seen.reset();
  agent_.Wait(seconds(30) - milliseconds(10));
  ASSERT_EQ(agent_.looks.size(), 1u);
  agent_.Step(WorkersSeen{.round = 9});
  EXPECT_THAT(agent_.stacks_asked, IsEmpty());
  agent_.Step(WorkersSeen{.round = 1});
  ASSERT_EQ(agent_.stacks_asked.size(), 1u);
  agent_.Step(WorkersSeen{.round = 1, .workers = {{0, WorkerState::kStopped}}});
  EXPECT_EQ(agent_.stacks_asked.size(), 1u);
}

TEST_F(LifecycleHang, StackCompletesTheHangAndStopsTheOthers) {
  FallSilent();
  agent_.Wait(seconds(2));
  agent_.Step(Taken());
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kStopping);
  EXPECT_THAT(agent_.signals, ElementsAre(SIGTERM));
  EXPECT_THAT(agent_.to_one, IsEmpty());
  EXPECT_THAT(agent_.closed_stores,
              ElementsAre(HasSubstr("rank 3 hung: silent for 30 s")));
  const rendezvous::Report& report = agent_.reports.back();
  EXPECT_EQ(report.phase, rendezvous::NodePhase::kStopping);
  ASSERT_EQ(report.failures.size(), 1u);
  const rendezvous::Failure& failure = report.failures[0];
  EXPECT_EQ(failure.kind, rendezvous::FailureKind::kHung);
  ASSERT_EQ(agent_.ends.size(), 1u);
  EXPECT_EQ(agent_.ends[0][0].kind, rendezvous::FailureKind::kHung);
  EXPECT_THAT(agent_.ends[0][0].stack, IsEmpty());
  EXPECT_EQ(failure.rank, 3);
  EXPECT_EQ(failure.local_rank, 1);
  EXPECT_EQ(failure.pid, 101);
  EXPECT_EQ(failure.silent_for, seconds(32));
  EXPECT_THAT(failure.stack, ElementsAre("main (train.py:7)"));
  EXPECT_THAT(failure.stderr_tail, ElementsAre("last words"));
  EXPECT_EQ(failure.unix_time, 1e9);
}

TEST_F(LifecycleHang, EndOfTheHungWorkerIsNoSecondFailure) {
  FallSilent();
  agent_.Step(Taken());
  agent_.Fails(1, rendezvous::FailureKind::kSignal);
  agent_.Fails(0, rendezvous::FailureKind::kSignal);
  agent_.Gone();
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kIdle);
  const std::vector<rendezvous::Failure>& failures =
      agent_.reports.back().failures;
  ASSERT_EQ(failures.size(), 2u);
  EXPECT_EQ(failures[0].kind, rendezvous::FailureKind::kHung);
  EXPECT_EQ(failures[1].kind, rendezvous::FailureKind::kStoppedByUs);
  EXPECT_EQ(failures[1].rank, 2);
}

TEST_F(LifecycleHang, EachReportSaysForHowLong) {
  FallSilent();
  agent_.Step(Taken());
  agent_.Wait(seconds(3));
  EXPECT_EQ(agent_.reports.back().failures[0].silent_for, seconds(33));
}

TEST_F(LifecycleHang, AStackThatDoesNotComeIsNotWaitedFor) {
  FallSilent();
  agent_.Wait(seconds(15) - milliseconds(1));
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kRunning);
  agent_.Wait(milliseconds(1));
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kStopping);
  ASSERT_EQ(agent_.reports.back().failures.size(), 1u);
  EXPECT_EQ(agent_.reports.back().failures[0].kind,
            rendezvous::FailureKind::kHung);
  // The hang was reported without a stack. The event with the stack comes too
  // late and adds no second failure.
  agent_.Step(Taken());
  EXPECT_EQ(agent_.reports.back().failures.size(), 1u);
}

TEST_F(LifecycleHang, AWorkerThatReportsAgainDidNotHang) {
  FallSilent();
  agent_.Says(1);
  EXPECT_THAT(agent_.notices, Contains("rank 3 reports again after 30 s of "
                                       "silence: it does not hang"));
  agent_.Says(0);
  agent_.Step(Taken());
  agent_.Wait(seconds(29));
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kRunning);
  EXPECT_THAT(agent_.reports.back().failures, IsEmpty());
  // The workers have been silent for 29 s since their last reports. After one
  // more second a worker reaches its deadline of 30 s and is suspected again.
  agent_.Wait(seconds(1));
  EXPECT_EQ(agent_.stacks_asked.size(), 2u);
}

// The agent was suspended for a minute, and afterwards reads the reports of
// both workers in one event: neither of them seems silent.
TEST_F(LifecycleHang, ReportsReadTogetherPreventAHang) {
  Lifecycle lifecycle(ThirtySeconds(), agent_.now());
  lifecycle.Step(agent_.now(), LinkUp{"10.0.0.1"});
  rendezvous::Directive run = DirectiveOf(rendezvous::DirectiveKind::kRun);
  run.place.round = 1;
  lifecycle.Step(agent_.now(), DirectiveCame{run});
  const WorkersReported both{{{0, {.alive = true}}, {1, {.alive = true}}}};
  lifecycle.Step(agent_.now(), both);
  EXPECT_THAT(lifecycle.Step(agent_.now() + minutes(1), both).actions,
              IsEmpty());
}

TEST_F(LifecycleHang, AnothersReportDoesNotClearIt) {
  FallSilent();
  agent_.Says(0);
  // Rank 3 is suspected. The report of rank 2 does not make the agent request
  // the stack of rank 3 again.
  EXPECT_EQ(agent_.stacks_asked.size(), 1u);
  agent_.Step(Taken());
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kStopping);
}

TEST_F(LifecycleHang, OnlyItsOwnStackAccusesIt) {
  FallSilent();
  agent_.Step(Taken(/*local_rank=*/0));
  agent_.Step(Taken(/*local_rank=*/1, /*round=*/9));
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kRunning);
}

// A worker that dies while its stack is read is still reported as hung.
TEST_F(LifecycleHang, AWorkerThatDiesWhileItIsLookedAtStillHung) {
  FallSilent();
  agent_.Wait(seconds(2));
  rendezvous::Failure failure;
  failure.kind = rendezvous::FailureKind::kSignal;
  failure.signal = SIGABRT;
  failure.message = "killed by SIGABRT";
  failure.stderr_tail = {"OSError: [Errno 514]"};
  failure.traceback = "Traceback";
  failure.error_file = "/error.json";
  agent_.Step(WorkerDown{1, failure});
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kStopping);
  ASSERT_EQ(agent_.reports.back().failures.size(), 1u);
  const rendezvous::Failure& hang = agent_.reports.back().failures[0];
  EXPECT_EQ(hang.kind, rendezvous::FailureKind::kHung);
  EXPECT_EQ(hang.rank, 3);
  EXPECT_EQ(hang.silent_for, seconds(32));
  EXPECT_THAT(hang.message, StartsWith("hung: silent for 30 s"));
  EXPECT_THAT(hang.message,
              HasSubstr("; then, while its stack was taken: killed by"));
  EXPECT_THAT(hang.stderr_tail, ElementsAre("OSError: [Errno 514]"));
  EXPECT_EQ(hang.traceback, "Traceback");
  EXPECT_EQ(hang.error_file, "/error.json");
  // The event with the stack comes after the report of the hang and adds no
  // second failure.
  agent_.Step(Taken());
  agent_.Wait(seconds(1));
  EXPECT_EQ(agent_.reports.back().failures.size(), 1u);
}

// A worker is suspected of a hang, and a signal kills this worker and its peer
// while the stacks are taken. The kernel may report the peer's exit first. The
// agent's report still names the hang first.
TEST_F(LifecycleHang, APeerThatIsKilledWhileStacksAreTakenIsNotTheCause) {
  FallSilent();
  rendezvous::Failure killed;
  killed.kind = rendezvous::FailureKind::kSignal;
  killed.signal = SIGABRT;
  killed.rank = 2;
  killed.local_rank = 0;
  killed.message = "killed by SIGABRT";
  agent_.Step(
      WorkerDown{.local_rank = 0, .failure = killed, .by_itself = true});
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kStopping);
  killed.rank = 3;
  killed.local_rank = 1;
  agent_.Step(
      WorkerDown{.local_rank = 1, .failure = killed, .by_itself = true});
  const std::vector<rendezvous::Failure>& failures =
      agent_.reports.back().failures;
  ASSERT_EQ(failures.size(), 2u);
  EXPECT_EQ(failures[0].kind, rendezvous::FailureKind::kHung);
  EXPECT_EQ(failures[0].rank, 3);
  // The peer was killed by a signal that Muster did not send.
  EXPECT_EQ(failures[1].kind, rendezvous::FailureKind::kSignal);
  EXPECT_EQ(failures[1].rank, 2);
}

TEST_F(LifecycleHang, PeerKilledBeforeTheExaminationIsTheCause) {
  agent_.seen.reset();
  agent_.Wait(seconds(30) - milliseconds(10));
  ASSERT_EQ(agent_.looks.size(), 1u);
  agent_.Fails(0, rendezvous::FailureKind::kSignal);
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kStopping);
  ASSERT_EQ(agent_.reports.back().failures.size(), 1u);
  EXPECT_EQ(agent_.reports.back().failures[0].kind,
            rendezvous::FailureKind::kSignal);
}

TEST_F(LifecycleHang, APeerThatExitsWhileStacksAreTakenHasTheWord) {
  FallSilent();
  agent_.Fails(0);
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kStopping);
  ASSERT_FALSE(agent_.reports.back().failures.empty());
  EXPECT_EQ(agent_.reports.back().failures[0].kind,
            rendezvous::FailureKind::kExitCode);
}

TEST_F(LifecycleHang, AWorkerThatEndsBeforeItIsLookedAtHasTheWord) {
  agent_.seen.reset();
  agent_.Wait(seconds(30) - milliseconds(10));
  ASSERT_EQ(agent_.looks.size(), 1u);
  agent_.Fails(1);
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kStopping);
  ASSERT_EQ(agent_.reports.back().failures.size(), 1u);
  EXPECT_EQ(agent_.reports.back().failures[0].kind,
            rendezvous::FailureKind::kExitCode);
}

TEST_F(LifecycleHang, AWorkerThatSucceedsMeanwhileIsFine) {
  FallSilent();
  agent_.Down(1);
  agent_.Step(Taken());
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kRunning);
}

// This node reports its hang although the round is already being stopped. The
// coordinator needs the report to compare which worker fell silent first.
TEST_F(LifecycleHang, HangIsReportedAlthoughTheRoundIsStopped) {
  FallSilent();
  agent_.TellStop(1);
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kStopping);
  agent_.Step(Taken());
  ASSERT_EQ(agent_.reports.back().failures.size(), 1u);
  EXPECT_EQ(agent_.reports.back().failures[0].kind,
            rendezvous::FailureKind::kHung);
  EXPECT_THAT(agent_.signals, ElementsAre(15));
}

TEST_F(LifecycleHang, EndAfterAStopIsStillReportedAsTheHang) {
  FallSilent();
  agent_.TellStop(1);
  agent_.Fails(1, rendezvous::FailureKind::kSignal);
  agent_.Fails(0, rendezvous::FailureKind::kSignal);
  agent_.Gone();
  const std::vector<rendezvous::Failure>& failures =
      agent_.reports.back().failures;
  ASSERT_EQ(failures.size(), 2u);
  EXPECT_EQ(failures[0].kind, rendezvous::FailureKind::kHung);
  EXPECT_EQ(failures[0].rank, 3);
  EXPECT_EQ(failures[1].kind, rendezvous::FailureKind::kStoppedByUs);
}

TEST_F(LifecycleHang, StoppingWorkersAreNotWatched) {
  agent_.TellStop(1, minutes(5));
  agent_.Wait(minutes(2));
  EXPECT_THAT(agent_.stacks_asked, IsEmpty());
}

TEST_F(LifecycleHang, TheNextRoundBeginsWithoutSuspicion) {
  FallSilent();
  agent_.Step(Taken());
  agent_.Fails(1, rendezvous::FailureKind::kSignal);
  agent_.Fails(0, rendezvous::FailureKind::kSignal);
  agent_.Gone();
  agent_.TellRun(2);
  agent_.Up(0);
  agent_.Up(1);
  agent_.Wait(minutes(10));
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kRunning);
  EXPECT_THAT(agent_.reports.back().failures, IsEmpty());
  EXPECT_THAT(agent_.reports.back().progress, IsEmpty());
  // A failure in the new round is not mistaken for the hang of the old round.
  agent_.Fails(1);
  ASSERT_EQ(agent_.reports.back().failures.size(), 1u);
  EXPECT_EQ(agent_.reports.back().failures[0].kind,
            rendezvous::FailureKind::kExitCode);
}

TEST_F(LifecycleHang, ManyWorkersStacksAreBounded) {
  Lifecycle::Config config = ThirtySeconds();
  config.node.slots = 20;
  LifecycleFixture agent(config);
  agent.Connect();
  agent.TellRun(1);
  for (int i = 0; i < 20; ++i) agent.Up(i);
  agent.Says(17);
  agent.Wait(seconds(30));
  ASSERT_EQ(agent.stacks_asked.size(), 1u);
  EXPECT_EQ(agent.stacks_asked[0].workers.size(), kMaxStacks);
  EXPECT_EQ(agent.stacks_asked[0].workers[0].local_rank, 17);
}

TEST(LifecycleProgress, RidesAlongWithTheKeepAlive) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Wait(milliseconds(1));
  agent.Forget();
  agent.Says(1, {.step = 5, .loss = 2.0});
  agent.Says(1, {.step = 6});
  // A worker's progress report does not by itself trigger a report to the
  // coordinator.
  EXPECT_THAT(agent.reports, IsEmpty());
  agent.Wait(seconds(1));
  ASSERT_EQ(agent.reports.size(), 1u);
  ASSERT_EQ(agent.reports[0].progress.size(), 1u);
  EXPECT_EQ(agent.reports[0].progress[0].local_rank, 1);
  EXPECT_EQ(agent.reports[0].progress[0].step, 6);
  EXPECT_EQ(agent.reports[0].progress[0].loss, 2.0);
  EXPECT_EQ(agent.reports[0].progress[0].silent_for, milliseconds(999));
}

TEST(LifecycleProgress, MeasuredTimesRideAlongAndAreNoSignOfLife) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Wait(milliseconds(1));
  agent.Forget();
  agent.Step(WorkersReported{
      {{1, ProgressMessage{.own = seconds(3), .blocked = seconds(1)}}}});
  agent.Wait(seconds(1));
  ASSERT_EQ(agent.reports.size(), 1u);
  EXPECT_THAT(agent.reports[0].progress, IsEmpty());
  ASSERT_EQ(agent.reports[0].times.size(), 1u);
  EXPECT_EQ(agent.reports[0].times[0].local_rank, 1);
  EXPECT_EQ(agent.reports[0].times[0].own, seconds(3));
}

TEST(LifecycleProgress, ProgressWithoutWorkersIsIgnored) {
  LifecycleFixture agent;
  agent.Connect();
  agent.Says(0);
  agent.Wait(seconds(1));
  EXPECT_THAT(agent.reports.back().progress, IsEmpty());
}

}  // namespace
}  // namespace muster::agent
