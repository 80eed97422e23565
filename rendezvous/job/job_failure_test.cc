// Tests of worker failures: the break of the round, the restart budget and the
// cause. Tests of hangs: which of several silent workers is blamed. Also tests
// that a worker's progress changes no decision.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "rendezvous/job/job_fixture.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(JobFailure, BreaksTheRoundForEverybody) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Fails("a", ExitedWith(1, 3));
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  ASSERT_EQ(job.kind("b"), DirectiveKind::kStop);
  EXPECT_EQ(job.told("b").stop.round, 1);
  EXPECT_EQ(job.told("b").stop.signal, 15);
  EXPECT_EQ(job.told("b").stop.grace, seconds(10));
  EXPECT_EQ(job.told("b").stop.cause, StopCause::kBroken);
  EXPECT_EQ(job.told("b").reason, "rank 1 on a: exit code 3");
  EXPECT_EQ(job.Decided("break"),
            "round 1 is broken: rank 1 on a: exit code 3");
  EXPECT_EQ(job.Decided("failure"), "rank 1 on a: exit code 3");
  for (const char* kind : {"break", "failure"}) {
    const std::optional<Failure> failure = job.DecidedFailure(kind);
    ASSERT_TRUE(failure.has_value()) << kind;
    EXPECT_EQ(failure->rank, 1) << kind;
    EXPECT_EQ(failure->exit_code, 3) << kind;
    EXPECT_EQ(failure->node_id, "a") << kind;
  }
}

TEST(JobFailure, ALostNcclRootIsTextOfALaterBreak) {
  JobSpec spec = QuickSpec(2, 2);
  spec.max_restarts = 1;
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  job.agent("a").report.nccl_root_lost = "the root was killed";
  job.Report("a");
  job.Report("a");
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_EQ(job.Decided("nccl-id"), "the root was killed on a");
  EXPECT_EQ(job.Count("nccl-id"), 1);
  job.Fails("b", ExitedWith(1, 3));
  const std::string why =
      "rank 1 on b: exit code 3; before that, the root was killed on a";
  EXPECT_EQ(job.told("a").reason, why);
  // Node a reports no lost NCCL root (the process that creates the NCCL id) in
  // round 2. So the failure message of round 2 must not mention the root that
  // was lost in round 1.
  job.agent("a").report.nccl_root_lost.clear();
  job.Idle("a");
  job.Idle("b");
  job.Runs("a");
  job.Runs("b");
  job.Fails("b", ExitedWith(1, 3));
  job.AllStop();
  EXPECT_EQ(job.told("a").verdict.reason, "rank 1 on b: exit code 3");
}

TEST(JobFailure, ALostNcclRootOfAnEarlierRoundIsNotThisOnes) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Fails("b", ExitedWith(1, 3));
  job.Idle("a");
  job.Idle("b");
  ASSERT_EQ(job.round(), 2);
  job.agent("a").report.nccl_root_lost = "the root was killed";
  // Node a has not started round 2 yet, so its report still describes round 1.
  // The lost NCCL root that it names is that of round 1 and must not count for
  // round 2.
  job.Report("a");
  EXPECT_EQ(job.Count("nccl-id"), 0);
}

TEST(JobFailure, TheNextRoundBeginsOnceAllHaveStopped) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Fails("a", ExitedWith(1, 3));
  job.Idle("a");
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.Stopping("b");
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.Idle("b");
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_EQ(job.told("a").place.round, 2);
  EXPECT_EQ(job.told("a").place.restart_count, 1);
  EXPECT_EQ(job.status().restarts_used, 1);
}

TEST(JobFailure, TheRestartBudgetIsTheWholeJobs) {
  JobSpec spec = QuickSpec(2, 2);
  spec.max_restarts = 2;
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  for (const char* name : {"a", "b"}) {
    job.Fails(name, ExitedWith(1, 3));
    job.Idle("a");
    job.Idle("b");
    job.Runs("a");
    job.Runs("b");
  }
  EXPECT_EQ(job.round(), 3);
  Failure last;
  last.kind = FailureKind::kSignal;
  last.signal = 11;
  last.rank = 0;
  last.message = "killed by SIGSEGV";
  job.Fails("a", last);
  // No restart is left, but the job ends only when all members have stopped.
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.Idle("b");
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.Idle("a");
  for (const char* name : {"a", "b"}) {
    ASSERT_EQ(job.kind(name), DirectiveKind::kFinished);
    const Verdict& verdict = job.told(name).verdict;
    EXPECT_EQ(verdict.outcome, Outcome::kFailed);
    EXPECT_EQ(verdict.exit_code, 139);
    EXPECT_EQ(verdict.restarts_used, 2);
    EXPECT_EQ(verdict.max_restarts, 2);
    EXPECT_EQ(verdict.rounds, 3);
    ASSERT_TRUE(verdict.cause.has_value());
    EXPECT_EQ(verdict.cause->signal, 11);
    EXPECT_EQ(verdict.cause->group_rank, 0);
    EXPECT_EQ(verdict.cause->host, "a");
    EXPECT_TRUE(verdict.collateral.empty());
  }
}

// A job of one node whose worker fails immediately after each start.
class JobBackoff : public ::testing::Test {
 protected:
  static JobSpec Spec() {
    JobSpec spec = QuickSpec(1, 1);
    spec.max_restarts = 100;
    return spec;
  }
  JobBackoff() : job_(Spec()) { job_.StartAll({"a"}); }
  void FailOnce() {
    job_.Fails("a", ExitedWith(0, 1));
    job_.Idle("a");
  }
  JobFixture job_;
};

TEST_F(JobBackoff, TheThirdFailureInARowIsFollowedByADelay) {
  for (int i = 0; i < 2; ++i) {
    FailOnce();
    ASSERT_EQ(job_.kind("a"), DirectiveKind::kRun);
    job_.Runs("a");
  }
  FailOnce();
  EXPECT_EQ(job_.phase(), JobPhase::kGathering);
  EXPECT_EQ(job_.kind("a"), DirectiveKind::kWait);
  EXPECT_THAT(job_.told("a").reason,
              HasSubstr("s, because 3 rounds in a row failed within 30 s"));
  EXPECT_THAT(job_.status().reason, HasSubstr("the next round begins in 0."));
  EXPECT_THAT(job_.Decided("backoff"), HasSubstr("the next round begins in"));
  job_.Wait(milliseconds(249));
  EXPECT_EQ(job_.kind("a"), DirectiveKind::kWait);
  job_.Wait(milliseconds(251));
  EXPECT_EQ(job_.kind("a"), DirectiveKind::kRun);
  EXPECT_EQ(job_.round(), 4);
  EXPECT_EQ(job_.status().restarts_used, 3);
}

TEST_F(JobBackoff, TheDelayIsResetByAHealthyRound) {
  for (int i = 0; i < 5; ++i) {
    FailOnce();
    job_.Wait(seconds(4));
    job_.Runs("a");
  }
  job_.Wait(seconds(30));
  FailOnce();
  EXPECT_EQ(job_.kind("a"), DirectiveKind::kRun);
  EXPECT_EQ(job_.round(), 7);
}

TEST_F(JobBackoff, TheJoinTimeOutEndsTheDelay) {
  JobSpec spec = Spec();
  spec.join_timeout = milliseconds(100);
  JobFixture job(spec);
  job.StartAll({"a"});
  for (int i = 0; i < 3; ++i) {
    job.Fails("a", ExitedWith(0, 1));
    job.Idle("a");
    if (i < 2) job.Runs("a");
  }
  ASSERT_EQ(job.kind("a"), DirectiveKind::kWait);
  job.Wait(milliseconds(100));
  EXPECT_EQ(job.kind("a"), DirectiveKind::kRun);
}

TEST_F(JobBackoff, ACancelDoesNotWaitForTheDelay) {
  for (int i = 0; i < 3; ++i) {
    FailOnce();
    if (i < 2) job_.Runs("a");
  }
  ASSERT_EQ(job_.kind("a"), DirectiveKind::kWait);
  job_.Step(CancelAsked{"enough"});
  EXPECT_EQ(job_.kind("a"), DirectiveKind::kFinished);
}

TEST_F(JobBackoff, EveryNodeIsToldAtOnceAndALossAfterwardsIsNotDelayed) {
  JobSpec spec = Spec();
  spec.max_nodes = 2;
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  for (int i = 0; i < 3; ++i) {
    job.Fails("a", ExitedWith(0, 1));
    job.Idle("a");
    job.Idle("b");
    if (i == 2) break;
    job.Runs("a");
    job.Runs("b");
  }
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(job.kind(name), DirectiveKind::kWait) << name;
    EXPECT_THAT(job.told(name).reason, HasSubstr("3 rounds in a row")) << name;
  }
  job.Wait(seconds(1));
  job.Runs("a");
  job.Runs("b");
  job.BreakStream("b");
  job.Wait(milliseconds(600));
  job.Idle("a");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kRun);
  EXPECT_EQ(job.round(), 5);
}

TEST_F(JobBackoff, ALossIsFollowedByARoundAtOnce) {
  JobFixture job(QuickSpec(1, 5));
  std::vector<std::string> names = {"a", "b", "c", "d", "e"};
  job.StartAll(names);
  while (names.size() > 1) {
    job.BreakStream(names.back());
    names.pop_back();
    job.Wait(milliseconds(600));
    job.AllStop();
    for (const std::string& name : names) {
      ASSERT_EQ(job.kind(name), DirectiveKind::kRun) << names.size();
      job.Runs(name);
    }
  }
  EXPECT_EQ(job.round(), 5);
  EXPECT_EQ(job.Count("backoff"), 0);
}

TEST(JobFailure, TheFirstHeardIsTheCauseTheOthersAreCollateral) {
  JobSpec spec = QuickSpec(3, 3);
  spec.max_restarts = 0;
  JobFixture job(spec);
  job.StartAll({"a", "b", "c"});
  job.Fails("b", ExitedWith(2, 7));
  job.Fails("a", ExitedWith(0, 1));
  Failure stopped;
  stopped.kind = FailureKind::kStoppedByUs;
  stopped.rank = 4;
  job.Fails("c", stopped);
  for (const char* name : {"a", "b", "c"}) job.Idle(name);
  const Verdict& verdict = job.told("c").verdict;
  EXPECT_EQ(verdict.exit_code, 7);
  EXPECT_EQ(verdict.cause->rank, 2);
  ASSERT_EQ(verdict.collateral.size(), 2u);
  EXPECT_EQ(verdict.collateral[0].rank, 0);
  EXPECT_EQ(verdict.collateral[1].rank, 4);
  // Only the two real failures count, not the worker that Muster stopped.
  EXPECT_EQ(job.Count("failure"), 2);
}

TEST(JobFailure, ANodeThatCannotServeTheRoundEndsTheJobAndNoRankIsBlamed) {
  JobSpec spec = QuickSpec(2, 2);
  spec.max_restarts = 3;
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  Failure refused;
  refused.kind = FailureKind::kStartFailed;
  refused.exit_code = 1;
  refused.message = "port 29480 is taken on a; choose another";
  job.agent("a").report.failures = {refused};
  job.Idle("a");
  job.Idle("b");
  const Verdict& verdict = job.told("b").verdict;
  EXPECT_EQ(verdict.outcome, Outcome::kFailed);
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_EQ(verdict.reason, refused.message);
  EXPECT_FALSE(verdict.cause.has_value());
  EXPECT_TRUE(verdict.collateral.empty());
  EXPECT_EQ(job.Decided("failure"), refused.message);
}

TEST(JobFailure, SeveralInOneReportAreOneRestart) {
  JobSpec spec = QuickSpec(1, 1);
  spec.max_restarts = 5;
  JobFixture job(spec);
  job.StartAll({"a"});
  job.agent("a").report.failures = {ExitedWith(0, 1), ExitedWith(1, 1)};
  job.Stopping("a");
  job.Idle("a");
  EXPECT_EQ(job.round(), 2);
  EXPECT_EQ(job.status().restarts_used, 1);
}

TEST(JobFailure, AFailureThatIsReportedAgainCountsOnce) {
  JobSpec spec = QuickSpec(2, 2);
  spec.max_restarts = 0;
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  job.Fails("a", ExitedWith(0, 3));
  job.Report("a");
  job.Report("a");
  job.Idle("a");
  job.Idle("b");
  EXPECT_EQ(job.Count("failure"), 1);
  EXPECT_TRUE(job.told("a").verdict.collateral.empty());
}

TEST(JobFailure, AnEarlierRoundsFailureDoesNotCount) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Fails("a", ExitedWith(0, 3));
  job.Idle("a");
  job.Idle("b");
  ASSERT_EQ(job.round(), 2);
  job.Runs("b");
  // Node a has not started round 2 yet, so its report still contains the
  // failure of round 1. This failure must not count again.
  job.Report("a");
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_EQ(job.status().restarts_used, 1);
}

TEST(JobFailure, AProgramThatCannotStartIsNotRestarted) {
  JobSpec spec = QuickSpec(2, 2);
  spec.max_restarts = 9;
  JobFixture job(spec);
  job.Join("a");
  job.Join("b");
  job.Runs("a");
  Failure failure;
  failure.kind = FailureKind::kStartFailed;
  failure.rank = 2;
  failure.exit_code = 127;
  failure.message = "exec /opt/x: No such file or directory";
  job.agent("b").report.round = 1;
  job.agent("b").report.failures = {failure};
  job.Idle("b");
  job.Idle("a");
  ASSERT_EQ(job.kind("a"), DirectiveKind::kFinished);
  EXPECT_EQ(job.told("a").verdict.exit_code, 127);
  EXPECT_EQ(job.told("a").verdict.restarts_used, 0);
  EXPECT_THAT(job.told("a").verdict.reason, HasSubstr("exec /opt/x"));
}

TEST(JobFailure, AStartFailureThatFollowsAnotherCauseDoesNotEndTheJob) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Fails("a", ExitedWith(0, 3));
  Failure failure;
  failure.kind = FailureKind::kStartFailed;
  failure.rank = 2;
  job.Fails("b", failure);
  job.Idle("a");
  job.Idle("b");
  EXPECT_EQ(job.round(), 2);
}

TEST(JobFailure, SuccessWhenEveryMemberHasSucceeded) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b", "spare"});
  job.Succeeds("a");
  job.Succeeds("a");
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  job.Succeeds("b");
  for (const char* name : {"a", "b", "spare"}) {
    ASSERT_EQ(job.kind(name), DirectiveKind::kFinished) << name;
    EXPECT_EQ(job.told(name).verdict.outcome, Outcome::kSucceeded);
    EXPECT_EQ(job.told(name).verdict.exit_code, 0);
    EXPECT_FALSE(job.told(name).verdict.cause.has_value());
  }
  EXPECT_EQ(job.Decided("finish"), "every worker succeeded");
  EXPECT_EQ(job.job().NextDeadline(), std::nullopt);
}

TEST(JobFailure, SuccessWithoutEverHavingBeenSeenRunning) {
  JobFixture job(QuickSpec(1, 1));
  job.Join("a");
  job.agent("a").report.round = 1;
  job.Succeeds("a");
  EXPECT_EQ(job.phase(), JobPhase::kFinished);
}

TEST(JobFailure, TheSucceededRunAgainWhenAnotherFails) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Succeeds("a");
  job.Fails("b", ExitedWith(2, 1));
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.Idle("b");
  EXPECT_EQ(job.round(), 2);
  EXPECT_THAT(job.World(), ElementsAre("a", "b"));
  job.Runs("a");
  job.Runs("b");
  job.Succeeds("b");
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  job.Succeeds("a");
  EXPECT_EQ(job.phase(), JobPhase::kFinished);
}

TEST(JobFailure, AMemberThatWouldNotStopIsLostAfterTheGrace) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.Fails("a", ExitedWith(0, 3));
  job.Idle("a");
  job.Wait(milliseconds(14'900));
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.Wait(milliseconds(100));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_THAT(job.World(), ElementsAre("a"));
  EXPECT_THAT(job.Decided("lost"), HasSubstr("would not stop"));
  // Node b was declared lost, but still has workers of round 1. Node b gets a
  // stop directive until these workers have ended, and then a wait directive.
  job.Report("b");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kStop);
  EXPECT_EQ(job.told("b").stop.round, 1);
  job.Idle("b");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kWait);
}

TEST(JobFailure, AMemberThatStopsByItselfBreaksTheRound) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Stopping("a");
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  EXPECT_THAT(job.Decided("break"),
              HasSubstr("a (group rank 0) stopped its workers by itself"));
  EXPECT_EQ(job.status().restarts_used, 0);
}

Failure Hung(int rank, Duration silent_for) {
  Failure failure;
  failure.kind = FailureKind::kHung;
  failure.rank = rank;
  failure.local_rank = rank % 2;
  failure.message = "hung: silent for a while";
  failure.silent_for = silent_for;
  failure.stack = {"main (train.py:7)"};
  return failure;
}

class JobHang : public ::testing::Test {
 protected:
  explicit JobHang(int max_restarts = 0)
      : job_([&] {
          JobSpec spec = QuickSpec(2, 2);
          spec.max_restarts = max_restarts;
          return spec;
        }()) {
    job_.StartAll({"a", "b"});
    job_.Wait(seconds(40));
  }
  void AllIdle() {
    job_.Idle("a");
    job_.Idle("b");
  }

  JobFixture job_;
};

class JobHangWithABudget : public JobHang {
 protected:
  JobHangWithABudget() : JobHang(/*max_restarts=*/1) {}
};

TEST_F(JobHang, IsAFailureOfItsWorker) {
  job_.Fails("a", Hung(0, seconds(30)));
  EXPECT_EQ(job_.Decided("break"),
            "round 1 is broken: rank 0 on a: hung: silent for a while");
  EXPECT_EQ(job_.kind("b"), DirectiveKind::kStop);
  AllIdle();
  const Verdict& verdict = job_.told("b").verdict;
  EXPECT_EQ(verdict.outcome, Outcome::kFailed);
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_EQ(verdict.cause->kind, FailureKind::kHung);
  EXPECT_EQ(verdict.cause->stack.size(), 1u);
}

TEST_F(JobHangWithABudget, SpendsARestart) {
  job_.Fails("a", Hung(0, seconds(30)));
  AllIdle();
  EXPECT_EQ(job_.round(), 2);
  EXPECT_EQ(job_.status().restarts_used, 1);
}

TEST_F(JobHang, TheFirstSilentWorkerIsBlamedInAnyOrderOfReports) {
  job_.Fails("a", Hung(0, seconds(30)));
  job_.Wait(milliseconds(500));
  // The worker of node b fell silent half a second before the worker of node a,
  // so the hang on node b becomes the cause of the break.
  job_.Fails("b", Hung(2, seconds(31)));
  EXPECT_THAT(job_.Decided("hang"),
              HasSubstr("broke because rank 2 on b: hung: silent for a while, "
                        "which fell silent first; not by rank 0 on a"));
  AllIdle();
  const Verdict& verdict = job_.told("a").verdict;
  EXPECT_EQ(verdict.cause->rank, 2);
  EXPECT_EQ(verdict.reason, "rank 2 on b: hung: silent for a while");
  ASSERT_EQ(verdict.collateral.size(), 1u);
  EXPECT_EQ(verdict.collateral[0].rank, 0);
  EXPECT_THAT(verdict.collateral[0].stack, IsEmpty());
}

TEST_F(JobHangWithABudget, ABlameThatMovesSpendsOneRestartOnly) {
  job_.Fails("a", Hung(0, seconds(30)));
  job_.Fails("b", Hung(2, seconds(31)));
  AllIdle();
  EXPECT_EQ(job_.round(), 2);
  EXPECT_EQ(job_.status().restarts_used, 1);
}

TEST_F(JobHangWithABudget, ABlameThatMovesLeavesACancelItsReason) {
  job_.Fails("a", Hung(0, seconds(30)));
  job_.Step(CancelAsked{"by root"});
  job_.Fails("b", Hung(2, seconds(31)));
  EXPECT_EQ(job_.Count("hang"), 1);
  AllIdle();
  EXPECT_EQ(job_.told("a").verdict.reason, "cancelled: by root");
}

TEST_F(JobHang, WorkerSilentLaterIsAVictim) {
  job_.Fails("a", Hung(0, seconds(30)));
  job_.Wait(milliseconds(500));
  job_.Fails("b", Hung(2, seconds(30)));
  EXPECT_EQ(job_.Count("hang"), 0);
  AllIdle();
  EXPECT_EQ(job_.told("a").verdict.cause->rank, 0);
  EXPECT_EQ(job_.told("a").verdict.collateral.size(), 1u);
}

TEST_F(JobHang, AStoppedOneIsBlamedThoughItFellSilentLater) {
  Failure stopped = Hung(2, seconds(29));
  stopped.signal = SIGSTOP;
  job_.Fails("a", Hung(0, seconds(30)));
  job_.Fails("b", stopped);
  EXPECT_THAT(job_.Decided("hang"),
              HasSubstr(", which is stopped; not by rank 0 on a"));
  AllIdle();
  EXPECT_EQ(job_.told("a").verdict.cause->rank, 2);
  EXPECT_EQ(job_.told("a").verdict.reason,
            "rank 2 on b: hung: silent for a while");
}

TEST_F(JobHang, OnlyAnotherStoppedOneThatFellSilentBeforeTakesItsPlace) {
  for (const bool stopped : {false, true}) {
    JobFixture job(QuickSpec(2, 2));
    job.StartAll({"a", "b"});
    job.Wait(seconds(40));
    Failure first = Hung(0, seconds(30));
    first.signal = SIGSTOP;
    Failure second = Hung(2, seconds(31));
    if (stopped) second.signal = SIGSTOP;
    job.Fails("a", first);
    job.Fails("b", second);
    EXPECT_EQ(job.Count("hang"), stopped ? 1 : 0);
  }
}

TEST_F(JobHang, WorkersSilentAtTheSameTimeAreCounted) {
  // Progress of three workers of node b. The first fell silent a second later
  // than node a's worker. The second still reports progress. The third has
  // ended, so no further report is expected from it (deadline 0).
  job_.agent("b").report.progress = {
      {.silent_for = seconds(29), .deadline = seconds(30)},
      {.silent_for = seconds(2), .deadline = seconds(30)},
      {.silent_for = seconds(30)}};
  job_.Report("b");
  job_.Fails("a", Hung(0, seconds(30)));
  const std::string why =
      "rank 0 on a: hung: silent for a while; 1 rank of other nodes fell "
      "silent together with it, and the first need not be the cause: `launch "
      "inspect` shows who waited for whom";
  EXPECT_EQ(job_.Decided("break"), "round 1 is broken: " + why);
  AllIdle();
  EXPECT_EQ(job_.told("b").verdict.reason, why);
}

TEST_F(JobHang, OtherSilencesRaiseNoDoubtAboutAStoppedWorker) {
  job_.agent("b").report.progress = {
      {.silent_for = seconds(30), .deadline = seconds(30)}};
  job_.Report("b");
  Failure stopped = Hung(0, seconds(30));
  stopped.signal = SIGSTOP;
  job_.Fails("a", stopped);
  EXPECT_EQ(job_.Decided("break"),
            "round 1 is broken: rank 0 on a: hung: silent for a while");
}

TEST_F(JobHang, ACrashIsNotBlamedOnAHang) {
  job_.Fails("a", ExitedWith(0, 3));
  job_.Fails("b", Hung(2, seconds(31)));
  AllIdle();
  EXPECT_EQ(job_.told("a").verdict.exit_code, 3);
  EXPECT_EQ(job_.Count("hang"), 0);
}

TEST_F(JobHang, HangStaysTheCauseOfALaterCrash) {
  job_.Fails("a", Hung(0, seconds(30)));
  job_.Fails("b", ExitedWith(2, 3));
  AllIdle();
  EXPECT_EQ(job_.told("a").verdict.cause->rank, 0);
}

TEST_F(JobHang, SilenceInTheFutureIsNone) {
  job_.Fails("a", Hung(0, -seconds(30)));
  job_.Fails("b", Hung(2, Duration::zero()));
  EXPECT_EQ(job_.Count("hang"), 0);
}

TEST_F(JobHang, ANodeThatIsLostIsBlamedBeforeAWorkerThatWaitedForIt) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.BreakStream("b");
  job.Fails("a", Hung(0, seconds(30)));
  job.Idle("a");
  job.Wait(milliseconds(500));
  EXPECT_EQ(job.Count("blame"), 1);
}

TEST_F(JobHang, ProgressIsKeptAndChangesNothing) {
  job_.agent("b").report.progress = {
      {.local_rank = 1, .step = 7, .silent_for = seconds(1)}};
  job_.Report("b");
  EXPECT_THAT(job_.last_step().deliveries, IsEmpty());
  EXPECT_THAT(job_.last_step().decisions, IsEmpty());
  const std::vector<NodeStatus> nodes =
      job_.job().Status(job_.now() + seconds(2)).nodes;
  EXPECT_THAT(nodes[0].progress, IsEmpty());
  ASSERT_EQ(nodes[1].progress.size(), 1u);
  EXPECT_EQ(nodes[1].progress[0].step, 7);
  // `silent_for` is the silence in the report plus the time since the report.
  EXPECT_EQ(nodes[1].progress[0].silent_for, seconds(3));
  job_.agent("b").report.progress[0].step = 8;
  job_.Report("b");
  EXPECT_EQ(job_.status().nodes[1].progress[0].step, 8);
}

TEST_F(JobHang, TimesOfWorkersAreSplitForOperators) {
  job_.agent("b").report.times = {{.local_rank = 0,
                                   .own = seconds(5),
                                   .blocked = seconds(3),
                                   .data = seconds(2),
                                   .links = {{.peer = 0}}},
                                  {.local_rank = 1,
                                   .own = seconds(5),
                                   .blocked = seconds(3),
                                   .data = seconds(6)}};
  job_.Report("b");
  const std::vector<NodeStatus> nodes = job_.status().nodes;
  EXPECT_THAT(nodes[0].times, IsEmpty());
  ASSERT_EQ(nodes[1].times.size(), 2u);
  EXPECT_EQ(nodes[1].times[0].work, seconds(3));
  EXPECT_EQ(nodes[1].times[0].data, seconds(2));
  EXPECT_EQ(nodes[1].times[0].collectives, seconds(3));
  EXPECT_EQ(nodes[1].times[1].local_rank, 1);
  // The waits for data lie partly inside of collectives.
  EXPECT_EQ(nodes[1].times[1].work, seconds(0));
  EXPECT_EQ(nodes[1].times[1].data, seconds(6));
}

TEST_F(JobHangWithABudget, ProgressOfAnEarlierRoundIsNotShown) {
  job_.agent("b").report.progress = {{.local_rank = 1, .step = 7}};
  job_.agent("b").report.times = {{.local_rank = 1, .own = seconds(5)}};
  job_.Report("b");
  job_.Fails("a", ExitedWith(0, 3));
  AllIdle();
  ASSERT_EQ(job_.round(), 2);
  EXPECT_THAT(job_.status().nodes[1].progress, IsEmpty());
  EXPECT_THAT(job_.status().nodes[1].times, IsEmpty());
}

TEST_F(JobHang, MembersGetTheMoreLikelyCause) {
  job_.Fails("a", Hung(0, seconds(20)));
  const uint64_t revision = job_.told("b").revision;
  EXPECT_THAT(job_.told("b").reason, HasSubstr("rank 0 on a"));
  job_.Fails("b", Hung(2, seconds(30)));
  EXPECT_THAT(job_.told("a").reason, HasSubstr("rank 2 on b"));
  EXPECT_THAT(job_.told("b").reason, HasSubstr("rank 2 on b"));
  EXPECT_EQ(job_.told("b").kind, DirectiveKind::kStop);
  EXPECT_GT(job_.told("b").revision, revision)
      << "an overtaken order would name the first cause";
}

}  // namespace
}  // namespace muster::rendezvous
