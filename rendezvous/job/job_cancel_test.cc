// Requests to end the whole job, and the answers of a job that has ended.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/job/job_fixture.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

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
  // `at_once` leaves no grace: only the margin remains.
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

// The second Ctrl-C kills the workers of that node before the coordinator has
// received the first one.
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

TEST(JobCancel, ACtrlCAtASpareTakesNobodyWithIt) {
  JobFixture job(QuickSpec(1, 1));
  job.StartAll({"a", "b"});
  CtrlC(job, "b");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kReleased);
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

TEST(JobFinished, ALateComerIsRefusedAndAParticipantToldTheVerdict) {
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

// The refused node may belong to a later job of the same name.
TEST(JobFinished, AStrangerToAJobThatDidNotSucceedMayAskAgain) {
  JobFixture job(QuickSpec(1, 1));
  job.StartAll({"a"});
  job.Step(CancelAsked{"somebody"});
  job.AllStop();
  job.Join("b");
  ASSERT_EQ(job.kind("b"), DirectiveKind::kRefused);
  EXPECT_TRUE(job.told("b").another_job);
}

TEST(JobFinished, ASpareThatMissedTheEndIsToldTheVerdict) {
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

TEST(JobFinished, RepeatsTheVerdictToWhoeverAsks) {
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

}  // namespace
}  // namespace muster::rendezvous
