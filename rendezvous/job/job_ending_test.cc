// Tests of the end of nodes and jobs. A node leaves while the job continues: an
// operator drains it, or the node asks for it. The whole job ends: it is
// cancelled, and nodes that report later get the verdict. The job is preempted:
// the cluster takes the nodes away, and notifies one of them.
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

TEST(JobLeaving, ADrainedMemberIsStoppedWithTheRoundAndReleased) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  EXPECT_EQ(job.Step(DrainAsked{"b"}).refusal, "");
  EXPECT_EQ(job.Decided("break"),
            "round 1 is broken: b (group rank 1) goes: drained by an operator");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kStop);
  EXPECT_EQ(job.told("b").stop.cause, StopCause::kAsked);
  job.Idle("b");
  job.Idle("a");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kReleased);
  EXPECT_EQ(job.told("b").reason, "drained by an operator");
  EXPECT_THAT(job.World(), ElementsAre("a"));
  EXPECT_EQ(job.status().restarts_used, 0);
  job.BreakStream("b");
  EXPECT_EQ(job.status().nodes.size(), 1u);
}

TEST(JobLeaving, ASpareIsReleasedAtOnce) {
  JobFixture job(QuickSpec(1, 1));
  job.StartAll({"a", "b"});
  job.Step(DrainAsked{"b"});
  EXPECT_EQ(job.kind("b"), DirectiveKind::kReleased);
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

TEST(JobLeaving, ADrainIsRefusedWhereTooFewWouldRemain) {
  JobFixture job(QuickSpec(2, 3));
  job.StartAll({"a", "b", "c"});
  EXPECT_EQ(job.Step(DrainAsked{"b"}).refusal, "");
  EXPECT_EQ(job.Step(DrainAsked{"c"}).refusal,
            "without c only 1 nodes remain, and the job needs 2");
  // A second drain request for the same node is no error.
  EXPECT_EQ(job.Step(DrainAsked{"b"}).refusal, "");
  job.AllStop();
  EXPECT_THAT(job.World(), ElementsAre("a", "c"));
  EXPECT_THAT(job.Step(DrainAsked{"a"}).refusal, HasSubstr("needs 2"));
  job.Join("d");
  EXPECT_EQ(job.Step(DrainAsked{"a"}).refusal, "");
}

TEST(JobLeaving, ADrainOfAnUnknownNodeIsRefused) {
  JobFixture job(QuickSpec(1, 1));
  EXPECT_THAT(job.Step(DrainAsked{"z"}).refusal,
              HasSubstr("no node of the job is called z, nor is any on a"));
  job.StartAll({"a"});
  job.Succeeds("a");
  EXPECT_EQ(job.Step(DrainAsked{"a"}).refusal, "the job is over");
}

TEST(JobLeaving, ADrainOfAHostWithSeveralNodesAsksForTheNode) {
  JobFixture job(QuickSpec(1, 2));
  job.Create("a").report.node.host = "h";
  job.Create("b").report.node.host = "h";
  job.StartAll({"a", "b"});
  EXPECT_THAT(job.Step(DrainAsked{"h"}).refusal,
              HasSubstr("several nodes are on the host h"));
  EXPECT_EQ(job.Step(DrainAsked{"a"}).refusal, "");
}

TEST(JobLeaving, AReleaseThatWasLostIsSaidAgain) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.Step(DrainAsked{"b"});
  job.agent("b").deaf = true;
  job.AllStop();
  job.Idle("b");
  ASSERT_EQ(job.round(), 2);
  job.BreakStream("b");
  job.Wait(seconds(30));
  job.agent("b").deaf = false;
  job.Reconnect("b");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kReleased);
  EXPECT_EQ(job.status().nodes.size(), 1u);
}

TEST(JobLeaving, ADrainedNodeThatIsLostOnTheWayDoesNotComeBackEither) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.Step(DrainAsked{"b"});
  job.BreakStream("b");
  job.Wait(milliseconds(500));
  job.Idle("a");
  job.Reconnect("b");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kReleased);
  // A restarted agent of the drained node may join again.
  job.Restart("b");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kWait);
}

TEST(JobLeaving, ANodesOwnWishBreaksTheRoundForTheOthers) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.agent("a").report.leave = "SIGTERM";
  job.Report("a");
  EXPECT_EQ(job.Decided("leave"), "a goes: SIGTERM");
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  EXPECT_EQ(job.told("b").stop.cause, StopCause::kAsked);
  job.AllStop();
  EXPECT_EQ(job.kind("a"), DirectiveKind::kReleased);
  EXPECT_THAT(job.World(), ElementsAre("b"));
  job.Report("a");
  EXPECT_EQ(job.Count("leave"), 1);
}

TEST(JobLeaving, IsTheReasonWhyThatNodeHasStopped) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.agent("a").report.leave = "SIGTERM";
  job.Idle("a");
  EXPECT_EQ(job.Decided("break"),
            "round 1 is broken: a (group rank 0) goes: SIGTERM");
  job.Idle("b");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kReleased);
}

TEST(JobLeaving, WorkersDoNotWaitForThoseOfADeadGuardian) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.agent("a").report.leave = "the guardian was killed";
  job.Idle("a");
  EXPECT_EQ(job.told("b").stop.cause, StopCause::kBroken);
}

TEST(JobLeaving, ANodeThatHasSucceededLeavesWithoutABreak) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Succeeds("a");
  job.agent("a").report.leave = "SIGTERM";
  job.Report("a");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kReleased);
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  job.BreakStream("a");
  job.Succeeds("b");
  EXPECT_EQ(job.told("b").verdict.outcome, Outcome::kSucceeded);
}

// Node b succeeds, is lost, and returns with a restarted agent before the job
// succeeds. The verdict tells the new agent that node b took part in the job.
TEST(JobLeaving, ANodeThatHasSucceededTookPartAlsoAfterItsRestart) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b", "spare"});
  job.Succeeds("b");
  job.Lose("b");
  job.Restart("b");
  ASSERT_EQ(job.phase(), JobPhase::kRunning);
  job.Succeeds("a");
  ASSERT_EQ(job.status().verdict->outcome, Outcome::kSucceeded);
  EXPECT_EQ(job.kind("b"), DirectiveKind::kFinished);
  EXPECT_TRUE(job.told("a").took_part);
  EXPECT_TRUE(job.told("b").took_part);
  EXPECT_EQ(job.kind("spare"), DirectiveKind::kFinished);
  EXPECT_FALSE(job.told("spare").took_part);
}

TEST(JobLeaving, LeavingTogetherWithSuccessBreaksNothing) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.agent("a").report.leave = "SIGTERM";
  job.Succeeds("a");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kReleased);
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  job.Succeeds("b");
  EXPECT_EQ(job.told("b").verdict.outcome, Outcome::kSucceeded);
}

// If a cluster sends SIGTERM to the agent, it usually signals the node's
// workers as well. So failures of these workers must not count as the cause of
// the break.
TEST(JobLeaving, LeavingTogetherWithAFailureIsNoFailure) {
  JobSpec spec = QuickSpec(1, 2);
  spec.max_restarts = 0;
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  job.agent("a").report.leave = "SIGTERM";
  job.Fails("a", KilledBy(0, 15));
  job.Idle("a");
  job.Idle("b");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kReleased);
  EXPECT_THAT(job.World(), ElementsAre("b"));
}

// Node a cancels the job but gets no answer from the coordinator, so its agent
// gives up. Its next report contains both the cancel and the leave. The job
// must then end as cancelled.
TEST(JobLeaving, LeavingTogetherWithACancelIsACancel) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.Succeeds("a");
  job.agent("a").report.cancel = CancelWish{.signal = SIGINT};
  job.agent("a").report.leave = "no coordinator";
  job.Report("a");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kStop);
  EXPECT_EQ(job.told("b").stop.signal, SIGINT);
  EXPECT_EQ(job.told("b").stop.cause, StopCause::kCancelled);
  job.Idle("b");
  EXPECT_EQ(job.told("b").verdict.exit_code, 128 + SIGINT);
}

// All workers have already succeeded when the stop order arrives: the job
// succeeds, and no new round begins.
TEST(JobLeaving, ARoundThatHadSucceededIsNotRunAgain) {
  JobFixture job(QuickSpec(1, 3));
  job.StartAll({"a", "b", "c"});
  job.Succeeds("a");
  job.Step(DrainAsked{"b"});
  job.Succeeds("c");
  job.Succeeds("b");
  EXPECT_EQ(job.round(), 1);
  EXPECT_EQ(job.told("a").verdict.outcome, Outcome::kSucceeded);
  EXPECT_EQ(job.told("b").verdict.outcome, Outcome::kSucceeded);
}

TEST(JobLeaving, ARoundThatOneWasStoppedInIsRunAgain) {
  JobFixture job(QuickSpec(1, 3));
  job.StartAll({"a", "b", "c"});
  job.Succeeds("a");
  job.Step(DrainAsked{"b"});
  job.Succeeds("c");
  job.Idle("b");
  EXPECT_EQ(job.round(), 2);
  EXPECT_THAT(job.World(), ElementsAre("a", "c"));
}

TEST(JobLeaving, LeavingAFinishedJobHasNoEffect) {
  JobFixture job(QuickSpec(1, 1));
  job.StartAll({"a"});
  job.Succeeds("a");
  job.agent("a").report.leave = "SIGTERM";
  job.Report("a");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kFinished);
  EXPECT_EQ(job.Count("leave"), 0);
}

// A node leaves because its guardian process (the parent of its workers) died,
// and too few nodes are left. The verdict says why the node left.
TEST(JobLeaving, WhereTooFewAreLeftTheVerdictSaysWhyOneWent) {
  JobSpec spec = QuickSpec(2, 2);
  spec.rejoin_timeout = seconds(20);
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  job.agent("b").report.leave = "the guardian process was killed by signal 9";
  job.Report("b");
  job.Idle("b");
  job.Idle("a");
  ASSERT_EQ(job.kind("b"), DirectiveKind::kReleased);
  job.BreakStream("b");
  job.Wait(seconds(20));
  ASSERT_EQ(job.kind("a"), DirectiveKind::kFinished);
  EXPECT_EQ(job.told("a").verdict.reason,
            "only 1 of at least 2 nodes is left, and no other came within 20 "
            "s; absent: b (left: the guardian process was killed by signal 9)");
}

TEST(JobLeaving, LeavingNodeThatIsLostHasLeft) {
  JobSpec spec = QuickSpec(2, 2);
  spec.rejoin_timeout = seconds(20);
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  job.agent("b").report.leave = "SIGTERM";
  job.Report("b");
  job.Lose("b");
  job.Idle("a");
  job.Wait(seconds(20));
  ASSERT_EQ(job.kind("a"), DirectiveKind::kFinished);
  EXPECT_THAT(job.told("a").verdict.reason,
              HasSubstr("absent: b (left: SIGTERM)"));
}

// Node b, a drained spare, once had the rank that member c has now. The verdict
// must name the loss of c, not the departure of b.
TEST(JobLeaving, ASparesGoingIsNotThatOfTheMemberOfItsOldRank) {
  JobSpec spec = QuickSpec(2, 2);
  spec.rejoin_timeout = seconds(20);
  JobFixture job(spec);
  job.StartAll({"a", "b", "c"});
  job.Fails("a", ExitedWith(0, 1));
  job.agent("b").report.health = Health::kUnhealthy;
  job.Idle("b");
  job.Idle("a");
  ASSERT_THAT(job.World(), ElementsAre("a", "c"));
  job.Runs("a");
  job.Runs("c");
  job.Step(DrainAsked{"b"});
  job.BreakStream("b");
  job.Lose("c");
  job.Idle("a");
  job.Wait(seconds(20));
  ASSERT_EQ(job.kind("a"), DirectiveKind::kFinished);
  EXPECT_THAT(job.told("a").verdict.reason, HasSubstr("absent: c (lost: "));
}

void CtrlC(JobFixture& job, const std::string& name) {
  std::optional<CancelWish>& wish = job.agent(name).report.cancel;
  if (wish.has_value()) {
    wish->at_once = true;
  } else {
    wish = CancelWish{.signal = 2};
  }
  job.Report(name);
}

TEST(JobCancel, WhileGatheringEndsItAtOnce) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  CtrlC(job, "a");
  ASSERT_EQ(job.kind("a"), DirectiveKind::kFinished);
  EXPECT_EQ(job.told("a").verdict.outcome, Outcome::kCancelled);
  EXPECT_EQ(job.told("a").verdict.exit_code, 130);
  EXPECT_EQ(job.told("a").verdict.reason, "cancelled: SIGINT at a");
}

TEST(JobCancel, WhileRunningStopsEverybodyFirst) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  CtrlC(job, "a");
  ASSERT_EQ(job.kind("b"), DirectiveKind::kStop);
  EXPECT_EQ(job.told("b").stop.signal, 2);
  EXPECT_EQ(job.told("b").stop.grace, seconds(10));
  EXPECT_EQ(job.told("b").stop.cause, StopCause::kCancelled);
  job.Idle("a");
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.Idle("b");
  ASSERT_EQ(job.kind("b"), DirectiveKind::kFinished);
  EXPECT_EQ(job.told("b").verdict.exit_code, 130);
}

TEST(JobCancel, TwiceLeavesNoGrace) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  CtrlC(job, "a");
  const uint64_t revision = job.told("b").revision;
  CtrlC(job, "a");
  EXPECT_GT(job.told("b").revision, revision);
  EXPECT_EQ(job.told("b").stop.grace, Duration::zero());
  job.Idle("a");
  job.Wait(milliseconds(4999));
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  // The second Ctrl-C ended the grace period. Since then node b has had 5 s
  // (kStopMargin) to kill its workers and to report their end. These 5 s (4999
  // ms + 1 ms) are over now, so the job ends.
  job.Wait(milliseconds(1));
  EXPECT_EQ(job.kind("a"), DirectiveKind::kFinished);
}

TEST(JobCancel, TwiceNeverGivesMoreTime) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  CtrlC(job, "a");
  job.Wait(milliseconds(14999));
  CtrlC(job, "a");
  job.Idle("a");
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.Wait(milliseconds(1));
  EXPECT_EQ(job.kind("a"), DirectiveKind::kFinished);
}

TEST(JobCancel, TheWishIsRepeatedInEveryReportAndCountsOnce) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  CtrlC(job, "a");
  job.Wait(seconds(12));
  EXPECT_EQ(job.Count("break"), 1);
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.Wait(seconds(3));
  EXPECT_EQ(job.phase(), JobPhase::kFinished);
}

TEST(JobCancel, DuringABreakReplacesTheNextRound) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Fails("a", ExitedWith(0, 3));
  CtrlC(job, "b");
  job.Idle("a");
  job.Idle("b");
  ASSERT_EQ(job.kind("a"), DirectiveKind::kFinished);
  EXPECT_EQ(job.told("a").verdict.outcome, Outcome::kCancelled);
  EXPECT_EQ(job.Decided("cancel"), "cancelled: SIGINT at b");
}

TEST(JobCancel, TheFirstWishIsTheVerdict) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  CtrlC(job, "a");
  job.agent("b").report.cancel = CancelWish{.signal = 15};
  job.Idle("b");
  job.Idle("a");
  EXPECT_EQ(job.told("b").verdict.exit_code, 130);
  EXPECT_EQ(job.told("b").verdict.reason, "cancelled: SIGINT at a");
}

TEST(JobCancel, DoesNotHideTheFailureThatHasEndedTheJobAlready) {
  JobSpec spec = QuickSpec(2, 2);
  spec.max_restarts = 0;
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  job.Fails("a", ExitedWith(0, 3));
  CtrlC(job, "b");
  CtrlC(job, "b");
  EXPECT_EQ(job.told("a").stop.grace, Duration::zero());
  job.Idle("a");
  job.Idle("b");
  EXPECT_EQ(job.told("a").verdict.outcome, Outcome::kFailed);
  EXPECT_EQ(job.told("a").verdict.exit_code, 3);
}

// After a second Ctrl-C the agent kills its workers, before the coordinator has
// received the first Ctrl-C. The reason of the break must be the cancel.
TEST(JobCancel, IsTheReasonWhyThatNodeHasStopped) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.agent("a").report.cancel = CancelWish{.signal = 2, .at_once = true};
  job.Stopping("a");
  EXPECT_EQ(job.Decided("break"), "round 1 is broken: cancelled: SIGINT at a");
  EXPECT_EQ(job.told("b").stop.grace, Duration::zero());
}

TEST(JobCancel, ByAnOperatorNamesTheOperator) {
  JobFixture job(QuickSpec(1, 1));
  job.StartAll({"a"});
  EXPECT_EQ(job.Step(CancelAsked{"launch cancel by root"}).refusal, "");
  EXPECT_EQ(job.told("a").stop.signal, 15);
  job.Idle("a");
  EXPECT_EQ(job.told("a").verdict.exit_code, 143);
  EXPECT_EQ(job.told("a").verdict.reason, "cancelled: launch cancel by root");
  EXPECT_THAT(job.Step(CancelAsked{"x"}).refusal, HasSubstr("job is over"));
}

TEST(JobCancel, ACtrlCAtASpareEndsOnlyTheSpare) {
  JobFixture job(QuickSpec(1, 1));
  job.StartAll({"a", "b"});
  CtrlC(job, "b");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kReleased);
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

TEST(JobFinished, LateNodeIsRefusedAndParticipantGetsTheVerdict) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Succeeds("a");
  job.Succeeds("b");
  job.Join("c");
  ASSERT_EQ(job.kind("c"), DirectiveKind::kRefused);
  EXPECT_THAT(job.told("c").reason,
              HasSubstr("job train is over (every worker succeeded)"));
  EXPECT_FALSE(job.told("c").another_job);
  Report& lost = job.Create("d").report;  // an agent that was lost in round 1
  lost.round = 1;
  job.Join("d");
  ASSERT_EQ(job.kind("d"), DirectiveKind::kFinished);
  EXPECT_EQ(job.told("d").verdict.outcome, Outcome::kSucceeded);
}

// Node b is unknown to the cancelled job, and may have been started for a later
// job with the same name. So the refusal allows the agent of b to ask again
// (another_job).
TEST(JobFinished, AStrangerToAJobThatDidNotSucceedMayAskAgain) {
  JobFixture job(QuickSpec(1, 1));
  job.StartAll({"a"});
  job.Step(CancelAsked{"somebody"});
  job.AllStop();
  job.Join("b");
  ASSERT_EQ(job.kind("b"), DirectiveKind::kRefused);
  EXPECT_TRUE(job.told("b").another_job);
}

TEST(JobFinished, SpareThatMissedTheEndGetsTheVerdict) {
  JobFixture job(QuickSpec(1, 1));
  job.StartAll({"a", "spare"});
  job.agent("spare").deaf = true;
  job.Succeeds("a");
  job.BreakStream("spare");
  job.Wait(seconds(60));
  job.agent("spare").deaf = false;
  job.Reconnect("spare");
  EXPECT_EQ(job.kind("spare"), DirectiveKind::kFinished);
}

TEST(JobFinished, RepeatsTheVerdictToEachReport) {
  JobFixture job(QuickSpec(1, 1));
  job.StartAll({"a"});
  job.Succeeds("a");
  const int told = job.agent("a").times_told;
  job.Report("a");
  EXPECT_EQ(job.agent("a").times_told, told + 1);
  EXPECT_EQ(job.Count("finish"), 1);
}

TEST(JobCancel, TheFirstOfTwoIsTheReason) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Step(CancelAsked{"first"});
  job.Step(CancelAsked{"second"});
  job.AllStop();
  EXPECT_EQ(job.told("a").verdict.reason, "cancelled: first");
}

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

TEST(JobPreemption, EveryMemberGetsTheNoticeAndRuns) {
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

TEST(JobPreemption, OrTheFirstRemainingMember) {
  JobFixture job(PreemptedSpec(1, 2));
  job.StartAll({"a", "b"});
  Preempt(job, "b");
  job.Lose("a");
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

// When another node reports the same preemption notice later, the grace must
// not be extended.
TEST(JobPreemption, TheGraceIsNotRenewed) {
  JobFixture job(PreemptedSpec(2, 2));
  job.StartAll({"a", "b"});
  Preempt(job, "a");
  job.Wait(seconds(10));
  Preempt(job, "b");
  job.Wait(seconds(10));
  EXPECT_EQ(job.kind("b"), DirectiveKind::kStop);
}

TEST(JobPreemption, GraceIsLimitedByTheJobs) {
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

// A new coordinator learns of the preemption from the first node that reports
// to it.
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

TEST(JobPreemption, NoSpareIsLetIn) {
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

TEST(JobPreemption, ASparesNoticePreemptsTheWholeJob) {
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
  job.Lose("b");
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

// The cluster signalled node a's workers before node a's agent, and node b's
// worker failed because of that. The coordinator reads the failure before the
// preemption notice of a. The preemption must nevertheless become the cause.
TEST(JobPreemption, ANoticeFromBeforeTheOrderReplacesAVerdict) {
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
  job.Lose("a");
  job.Idle("b");
  EXPECT_EQ(job.Count("lost"), 1);
  EXPECT_EQ(job.told("b").verdict.exit_code, kPreemptedExitCode);
  EXPECT_EQ(job.told("b").verdict.restarts_used, 0);
}

TEST(JobPreemption, ASecondNodesNoticeReplacesAVerdict) {
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

// When a job's time limit is reached, Slurm sends SIGTERM even if it sent a
// preemption notice before. SIGTERM ends the grace period, but the job still
// counts as preempted.
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

TEST(JobPreemption, ReachesANodeThatReconnects) {
  JobFixture job(PreemptedSpec(2, 2));
  job.StartAll({"a", "b"});
  job.BreakStream("b");
  Preempt(job, "a");
  job.Reconnect("b");
  EXPECT_TRUE(job.told("b").preemption.has_value());
}

TEST(JobPreemption, WithoutANoticeNoNodeActsForTheJob) {
  JobFixture job(PreemptedSpec(1, 1));
  job.StartAll({"a"});
  EXPECT_FALSE(job.told("a").preemption.has_value());
  EXPECT_FALSE(job.status().preemption.has_value());
  job.Succeeds("a");
  EXPECT_EQ(job.told("a").verdict.outcome, Outcome::kSucceeded);
}

}  // namespace
}  // namespace muster::rendezvous
