// Nodes that leave while the job continues: drained by an operator, or at their
// own request.

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
  // Repeating the request for a drain under way is no error.
  EXPECT_EQ(job.Step(DrainAsked{"b"}).refusal, "");
  job.AllStop();
  EXPECT_THAT(job.World(), ElementsAre("a", "c"));
  EXPECT_THAT(job.Step(DrainAsked{"a"}).refusal, HasSubstr("needs 2"));
  job.Join("d");
  EXPECT_EQ(job.Step(DrainAsked{"a"}).refusal, "");
}

TEST(JobLeaving, ADrainOfNobodyIsRefused) {
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
  // A new incarnation of the drained node may join.
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

TEST(JobLeaving, WhoHasSucceededMayLeaveWithoutABreak) {
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

// A newer report may replace an unsent one, so that leave and success arrive
// together. The meaning is the same.
TEST(JobLeaving, WhoSaysSoTogetherWithItsSuccessBreaksNothing) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.agent("a").report.leave = "SIGTERM";
  job.Succeeds("a");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kReleased);
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  job.Succeeds("b");
  EXPECT_EQ(job.told("b").verdict.outcome, Outcome::kSucceeded);
}

// The sender of SIGTERM to the agent has signalled the node's workers as well.
TEST(JobLeaving, WhoSaysSoTogetherWithAFailureFailsNobody) {
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

// A cancelled agent whose coordinator does not answer gives up, so its next
// report holds both.
TEST(JobLeaving, WhoSaysSoTogetherWithACancelHasCancelled) {
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

// All workers had succeeded when the order to stop arrived.
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

TEST(JobLeaving, NobodyLeavesAFinishedJob) {
  JobFixture job(QuickSpec(1, 1));
  job.StartAll({"a"});
  job.Succeeds("a");
  job.agent("a").report.leave = "SIGTERM";
  job.Report("a");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kFinished);
  EXPECT_EQ(job.Count("leave"), 0);
}

// Its guardian died, for example.
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

TEST(JobLeaving, OneThatLeavesAndIsLostThenHasLeft) {
  JobSpec spec = QuickSpec(2, 2);
  spec.rejoin_timeout = seconds(20);
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  job.agent("b").report.leave = "SIGTERM";
  job.Report("b");
  job.BreakStream("b");
  job.Wait(seconds(1));
  job.Idle("a");
  job.Wait(seconds(20));
  ASSERT_EQ(job.kind("a"), DirectiveKind::kFinished);
  EXPECT_THAT(job.told("a").verdict.reason,
              HasSubstr("absent: b (left: SIGTERM)"));
}

// It had the rank that another has now.
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
  job.BreakStream("c");
  job.Wait(seconds(1));
  job.Idle("a");
  job.Wait(seconds(20));
  ASSERT_EQ(job.kind("a"), DirectiveKind::kFinished);
  EXPECT_THAT(job.told("a").verdict.reason, HasSubstr("absent: c (lost: "));
}

}  // namespace
}  // namespace muster::rendezvous
