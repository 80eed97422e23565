// Preemption: the cluster takes the nodes away, and gives notice to one of
// them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/job/job_fixture.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

JobSpec PreemptedSpec(int min_nodes, int max_nodes) {
  JobSpec spec = QuickSpec(min_nodes, max_nodes);
  spec.preempt_grace = seconds(20);
  return spec;
}

void Preempt(JobFixture& job, const std::string& name,
             Duration left = seconds(20)) {
  job.agent(name).report.preemption =
      PreemptionNotice{.signal = 10, .host = name, .left = left};
  job.Report(name);
}

TEST(JobPreemption, EveryMemberIsToldAndMayRunOn) {
  JobFixture job(PreemptedSpec(2, 2));
  job.StartAll({"a", "b"});
  const uint64_t revision = job.told("a").revision;
  Preempt(job, "b");
  ASSERT_EQ(job.kind("a"), DirectiveKind::kRun);
  EXPECT_GT(job.told("a").revision, revision);
  ASSERT_TRUE(job.told("a").preemption.has_value());
  EXPECT_EQ(job.told("a").preemption->signal, 10);
  EXPECT_EQ(job.told("a").preemption->host, "b");
  EXPECT_EQ(job.told("a").preemption->left, seconds(20));
  EXPECT_EQ(job.status().preemption->host, "b");
  EXPECT_EQ(job.status().reason, "preempted: SIGUSR1 at b");
  EXPECT_EQ(job.Count("preempt"), 1);
}

TEST(JobPreemption, EndsTheJobWhenEveryWorkerHasEnded) {
  JobFixture job(PreemptedSpec(2, 2));
  job.StartAll({"a", "b"});
  Preempt(job, "b");
  job.Succeeds("a");
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  job.Succeeds("b");
  ASSERT_EQ(job.kind("a"), DirectiveKind::kFinished);
  const Verdict& verdict = job.told("a").verdict;
  EXPECT_EQ(verdict.outcome, Outcome::kPreempted);
  EXPECT_EQ(verdict.exit_code, kPreemptedExitCode);
  EXPECT_EQ(verdict.reason, "preempted: SIGUSR1 at b");
}

TEST(JobPreemption, TheFirstOfTheWorldActsForTheJob) {
  JobFixture job(PreemptedSpec(2, 2));
  job.StartAll({"a", "b"});
  Preempt(job, "b");
  job.Succeeds("a");
  job.Succeeds("b");
  EXPECT_TRUE(job.told("a").acts_for_job);
  EXPECT_FALSE(job.told("b").acts_for_job);
}

TEST(JobPreemption, OrTheFirstOfThoseThatAreLeft) {
  JobFixture job(PreemptedSpec(1, 2));
  job.StartAll({"a", "b"});
  Preempt(job, "b");
  job.BreakStream("a");
  job.Wait(seconds(1));
  job.Idle("b");
  ASSERT_EQ(job.kind("b"), DirectiveKind::kFinished);
  EXPECT_TRUE(job.told("b").acts_for_job);
}

TEST(JobPreemption, AfterTheGraceTheRestIsStopped) {
  JobFixture job(PreemptedSpec(2, 2));
  job.StartAll({"a", "b"});
  Preempt(job, "a");
  job.Succeeds("a");
  job.Wait(milliseconds(19'999));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  job.Wait(milliseconds(1));
  ASSERT_EQ(job.kind("b"), DirectiveKind::kStop);
  EXPECT_EQ(job.told("b").stop.grace, seconds(10));
  EXPECT_EQ(job.told("b").stop.cause, StopCause::kAsked);
  EXPECT_TRUE(job.told("b").preemption.has_value());
  job.Idle("b");
  EXPECT_EQ(job.told("b").verdict.outcome, Outcome::kPreempted);
}

TEST(JobPreemption, AskedAgainLeavesNothingOfTheGrace) {
  JobFixture job(PreemptedSpec(2, 2));
  job.StartAll({"a", "b"});
  Preempt(job, "a");
  Preempt(job, "a", Duration::zero());
  EXPECT_EQ(job.kind("b"), DirectiveKind::kStop);
  EXPECT_EQ(job.Count("preempt"), 1);
}

// Each report repeats the notice, a little later each time.
TEST(JobPreemption, TheGraceIsNotRenewed) {
  JobFixture job(PreemptedSpec(2, 2));
  job.StartAll({"a", "b"});
  Preempt(job, "a");
  job.Wait(seconds(10));
  Preempt(job, "b");
  job.Wait(seconds(10));
  EXPECT_EQ(job.kind("b"), DirectiveKind::kStop);
}

TEST(JobPreemption, NorIsItLongerThanTheJobs) {
  JobFixture job(PreemptedSpec(2, 2));
  job.StartAll({"a", "b"});
  Preempt(job, "a", std::chrono::hours(10));
  job.Wait(seconds(20));
  EXPECT_EQ(job.kind("b"), DirectiveKind::kStop);
}

TEST(JobPreemption, WhileGatheringEndsTheJobAtOnce) {
  JobFixture job(PreemptedSpec(2, 2));
  job.Join("a");
  Preempt(job, "a");
  ASSERT_EQ(job.kind("a"), DirectiveKind::kFinished);
  EXPECT_EQ(job.told("a").verdict.outcome, Outcome::kPreempted);
  EXPECT_TRUE(job.told("a").acts_for_job);
}

// A new coordinator learns of the preemption from the first node that reports.
TEST(JobPreemption, TheFirstReportMayBringIt) {
  JobFixture job(PreemptedSpec(1, 1));
  job.Create("a").report.preemption =
      PreemptionNotice{.signal = 10, .host = "b", .left = seconds(3)};
  job.Join("a");
  ASSERT_EQ(job.kind("a"), DirectiveKind::kFinished);
  EXPECT_EQ(job.told("a").verdict.reason, "preempted: SIGUSR1 at b");
  EXPECT_EQ(job.Count("assign"), 0);
}

TEST(JobPreemption, ARoundThatNotAllHaveBegunIsStoppedAtOnce) {
  JobFixture job(PreemptedSpec(2, 2));
  job.Join("a");
  job.Join("b");
  job.Runs("a");
  Preempt(job, "b");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kStop);
  EXPECT_TRUE(job.told("a").preemption.has_value());
  job.Idle("a");
  job.Idle("b");
  EXPECT_EQ(job.told("a").verdict.outcome, Outcome::kPreempted);
}

TEST(JobPreemption, NobodyIsLetIn) {
  JobFixture job(PreemptedSpec(1, 2));
  job.Join("a");
  job.Wait(seconds(4));
  job.Runs("a");
  Preempt(job, "a");
  job.Join("b");
  job.Wait(seconds(10));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_EQ(job.round(), 1);
}

TEST(JobPreemption, ASparesNoticeIsTheWholeJobs) {
  JobFixture job(PreemptedSpec(1, 1));
  job.StartAll({"a", "b"});
  Preempt(job, "b");
  EXPECT_EQ(job.told("a").preemption->host, "b");
}

TEST(JobPreemption, AFailureMeanwhileIsNamedAndSpendsNoRestart) {
  JobFixture job(PreemptedSpec(2, 2));
  job.StartAll({"a", "b"});
  Preempt(job, "a");
  job.Fails("b", ExitedWith(3, 9));
  ASSERT_EQ(job.kind("a"), DirectiveKind::kStop);
  job.Idle("a");
  job.Idle("b");
  const Verdict& verdict = job.told("a").verdict;
  EXPECT_EQ(verdict.outcome, Outcome::kPreempted);
  EXPECT_EQ(verdict.exit_code, kPreemptedExitCode);
  EXPECT_EQ(verdict.reason,
            "preempted: SIGUSR1 at a; besides, rank 3 on b: exit code 9");
  EXPECT_EQ(verdict.cause->exit_code, 9);
  EXPECT_EQ(verdict.restarts_used, 0);
}

TEST(JobPreemption, ALostNodeMeanwhileIsNamed) {
  JobFixture job(PreemptedSpec(2, 2));
  job.StartAll({"a", "b"});
  Preempt(job, "a");
  job.BreakStream("b");
  job.Wait(seconds(1));
  job.Idle("a");
  EXPECT_EQ(job.told("a").verdict.outcome, Outcome::kPreempted);
  EXPECT_THAT(job.told("a").verdict.reason, HasSubstr("besides, b was lost"));
  EXPECT_EQ(job.Count("assign"), 1);
}

TEST(JobPreemption, WhileARoundStopsNoOtherFollows) {
  JobFixture job(PreemptedSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Fails("b", ExitedWith(3, 9));
  Preempt(job, "a");
  job.Idle("a");
  job.Idle("b");
  EXPECT_EQ(job.told("a").verdict.outcome, Outcome::kPreempted);
  EXPECT_EQ(job.Count("assign"), 1);
}

TEST(JobPreemption, AVerdictThatStandsIsNotReplaced) {
  JobSpec spec = PreemptedSpec(2, 2);
  spec.max_restarts = 0;
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  job.Fails("b", ExitedWith(3, 9));
  Preempt(job, "a");
  job.Idle("a");
  job.Idle("b");
  EXPECT_EQ(job.told("a").verdict.outcome, Outcome::kFailed);
  EXPECT_EQ(job.told("a").verdict.exit_code, 9);
}

// a's workers were signalled before a's agent, and b's worker failed because of
// them: the order in which the two reports are read proves nothing.
TEST(JobPreemption, WhoWasToldBeforeTheOrderToStopReplacesAVerdict) {
  JobSpec spec = PreemptedSpec(2, 2);
  spec.max_restarts = 0;
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  job.agent("a").deaf = true;
  job.Fails("b", ExitedWith(3, 9));
  Preempt(job, "a");
  EXPECT_EQ(job.Count("blame"), 1);
  job.Idle("a");
  job.Idle("b");
  const Verdict& verdict = job.told("b").verdict;
  EXPECT_EQ(verdict.exit_code, kPreemptedExitCode);
  EXPECT_EQ(verdict.reason,
            "preempted: SIGUSR1 at a; besides, rank 3 on b: exit code 9");
}

TEST(JobPreemption, ThenNoRestartIsSpentEither) {
  JobFixture job(PreemptedSpec(2, 2));
  job.StartAll({"a", "b"});
  job.agent("a").deaf = true;
  job.Fails("b", ExitedWith(3, 9));
  Preempt(job, "a");
  job.BreakStream("a");
  job.Wait(seconds(1));
  job.Idle("b");
  EXPECT_EQ(job.Count("lost"), 1);
  EXPECT_EQ(job.told("b").verdict.exit_code, kPreemptedExitCode);
  EXPECT_EQ(job.told("b").verdict.restarts_used, 0);
}

TEST(JobPreemption, SoDoesTheSecondWhoTellsOfIt) {
  JobSpec spec = PreemptedSpec(3, 3);
  spec.max_restarts = 0;
  JobFixture job(spec);
  job.StartAll({"a", "b", "c"});
  job.agent("a").deaf = true;
  job.Fails("b", ExitedWith(3, 9));
  job.Stopping("c");
  Preempt(job, "c");
  EXPECT_EQ(job.Count("blame"), 0);
  Preempt(job, "a");
  job.Report("a");
  EXPECT_EQ(job.Count("blame"), 1);
  job.AllStop();
  job.Idle("a");
  EXPECT_EQ(job.told("b").verdict.exit_code, kPreemptedExitCode);
}

TEST(JobPreemption, ASparesNoticeReplacesNoVerdict) {
  JobSpec spec = PreemptedSpec(1, 1);
  spec.max_restarts = 0;
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  job.Fails("a", ExitedWith(0, 9));
  Preempt(job, "b");
  job.Idle("a");
  EXPECT_EQ(job.told("a").verdict.exit_code, 9);
}

TEST(JobPreemption, FailuresOfARoundThatIsOverAreNone) {
  JobFixture job(PreemptedSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Fails("b", ExitedWith(3, 9));
  job.BreakStream("a");
  job.Idle("b");
  job.Wait(seconds(1));
  ASSERT_EQ(job.phase(), JobPhase::kGathering);
  Preempt(job, "b");
  EXPECT_EQ(job.told("b").verdict.reason, "preempted: SIGUSR1 at b");
  EXPECT_FALSE(job.told("b").verdict.cause.has_value());
}

// At the end of a job's time limit Slurm sends SIGTERM, also after an earlier
// notice.
TEST(JobPreemption, ATermEndsTheGraceAndNotTheJobsName) {
  JobFixture job(PreemptedSpec(2, 2));
  job.StartAll({"a", "b"});
  Preempt(job, "a");
  job.agent("b").report.cancel = CancelWish{.signal = 15};
  job.Report("b");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kStop);
  EXPECT_EQ(job.told("a").stop.grace, seconds(10));
  job.agent("b").report.cancel->at_once = true;
  job.Report("b");
  EXPECT_EQ(job.told("a").stop.grace, Duration::zero());
  job.Idle("a");
  job.Idle("b");
  EXPECT_EQ(job.told("a").verdict.outcome, Outcome::kPreempted);
}

TEST(JobPreemption, CtrlCCancels) {
  JobFixture job(PreemptedSpec(2, 2));
  job.StartAll({"a", "b"});
  Preempt(job, "a");
  job.agent("b").report.cancel = CancelWish{.signal = 2};
  job.Report("b");
  job.Idle("a");
  job.Idle("b");
  EXPECT_EQ(job.told("a").verdict.outcome, Outcome::kCancelled);
}

TEST(JobPreemption, ReachesWhoWasAwayWhenItCame) {
  JobFixture job(PreemptedSpec(2, 2));
  job.StartAll({"a", "b"});
  job.BreakStream("b");
  Preempt(job, "a");
  job.Reconnect("b");
  EXPECT_TRUE(job.told("b").preemption.has_value());
}

TEST(JobPreemption, WithoutItNobodyActsOnIt) {
  JobFixture job(PreemptedSpec(1, 1));
  job.StartAll({"a"});
  EXPECT_FALSE(job.told("a").preemption.has_value());
  EXPECT_FALSE(job.status().preemption.has_value());
  job.Succeeds("a");
  EXPECT_EQ(job.told("a").verdict.outcome, Outcome::kSucceeded);
}

}  // namespace
}  // namespace muster::rendezvous
