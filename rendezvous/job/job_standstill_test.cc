// Standstills of the coordinator itself: messages that it did not read
// meanwhile do not count as silence of the nodes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/job/job_fixture.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

// A job of two nodes that needs one, with leases of 5 s.
class JobStandstillTest : public ::testing::Test {
 protected:
  JobStandstillTest() : job_(QuickSpec(1, 2)) { job_.StartAll({"a", "b"}); }

  JobFixture job_;
};

TEST_F(JobStandstillTest, NobodyIsLostByIt) {
  job_.StandStill(seconds(60));
  job_.Report("a");
  job_.Report("b");
  job_.Wait(seconds(20));
  EXPECT_EQ(job_.Count("lost"), 0);
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
}

TEST_F(JobStandstillTest, NorIfTheTimeThatPassedIsNoticedFirst) {
  job_.StandStill(seconds(60));
  job_.Step(TimePassed());
  job_.Wait(seconds(20));
  EXPECT_EQ(job_.Count("lost"), 0);
}

TEST_F(JobStandstillTest, WhoIsNotHeardOfThenIsLostAfterAnotherLease) {
  job_.agent("b").silent = true;
  job_.StandStill(seconds(60));
  job_.Report("a");
  job_.Wait(milliseconds(4999));
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
  job_.Wait(milliseconds(1));
  EXPECT_EQ(job_.phase(), JobPhase::kStopping);
  EXPECT_EQ(job_.Decided("lost"),
            "b is lost: its agent has been silent for 65 s (lease 5 s)");
}

TEST_F(JobStandstillTest, ALeaseThatIsAboutToRunOutBeginsAnewAsWell) {
  job_.agent("a").silent = true;
  job_.Wait(seconds(4));
  job_.agent("b").silent = true;
  job_.StandStill(milliseconds(4900));  // b's lease has 100 ms left
  job_.Report("a");
  job_.Wait(milliseconds(4999));
  EXPECT_EQ(job_.Count("lost"), 0);
}

TEST_F(JobStandstillTest, ABrokenStreamHasItsGraceOnceMore) {
  job_.BreakStream("b");
  job_.StandStill(seconds(60));
  job_.Report("a");
  job_.Wait(milliseconds(499));
  EXPECT_EQ(job_.Count("lost"), 0);
  job_.Wait(milliseconds(1));
  EXPECT_EQ(job_.Count("lost"), 1);
}

// On a machine where every step is late, a node that is gone is still lost.
TEST_F(JobStandstillTest, OneSilenceIsForgivenOnce) {
  job_.StandStill(seconds(60));
  job_.Report("a");
  EXPECT_EQ(job_.Count("lost"), 0);
  job_.StandStill(seconds(6));
  job_.Report("a");
  EXPECT_EQ(job_.Decided("lost"),
            "b is lost: its agent has been silent for 66 s (lease 5 s)");
}

TEST_F(JobStandstillTest, WhoWasHeardOfSinceIsForgivenAgain) {
  job_.StandStill(seconds(60));
  job_.Report("a");
  job_.Report("b");
  job_.StandStill(seconds(60));
  job_.Report("a");
  EXPECT_EQ(job_.Count("lost"), 0);
}

TEST_F(JobStandstillTest, WhoMayHaveStoppedMeanwhileIsNotLost) {
  job_.Fails("a", ExitedWith(0, 1));
  job_.StandStill(seconds(60));
  job_.Idle("a");
  EXPECT_EQ(job_.Count("lost"), 0);
  job_.Idle("b");
  EXPECT_EQ(job_.Count("lost"), 0);
  EXPECT_EQ(job_.round(), 2);
}

TEST_F(JobStandstillTest, WhoHasNotStoppedThenIsLostAfterAnotherLease) {
  job_.Fails("a", ExitedWith(0, 1));
  job_.StandStill(seconds(60));
  job_.Idle("a");
  job_.Wait(milliseconds(4999));
  EXPECT_EQ(job_.Count("lost"), 0);
  job_.Wait(milliseconds(1));
  EXPECT_EQ(job_.Decided("lost"),
            "b is lost: its workers would not stop within the grace");
}

TEST_F(JobStandstillTest, ABreakIsPutOffOnce) {
  job_.Fails("a", ExitedWith(0, 1));
  job_.StandStill(seconds(60));
  job_.Idle("a");
  job_.Report("b");
  job_.StandStill(seconds(60));
  job_.Report("a");
  EXPECT_EQ(job_.Decided("lost"),
            "b is lost: its workers would not stop within the grace");
}

TEST_F(JobStandstillTest, ALaterBreakIsPutOffAgain) {
  job_.Fails("a", ExitedWith(0, 1));
  job_.StandStill(seconds(60));
  job_.Idle("a");
  job_.Idle("b");
  job_.Runs("a");
  job_.Runs("b");
  job_.BreakStream("b");
  job_.Wait(milliseconds(500));  // b is lost
  job_.StandStill(seconds(60));
  job_.Step(TimePassed());
  EXPECT_EQ(job_.Count("lost"), 1);
}

// The members have 15 s to stop; the standstill takes 8 s of them.
TEST_F(JobStandstillTest, AStandstillThatTheBreakOutlastsChangesNoLimit) {
  job_.Fails("a", ExitedWith(0, 1));
  job_.StandStill(seconds(8));
  job_.Idle("a");
  job_.Wait(milliseconds(6999));
  EXPECT_EQ(job_.Count("lost"), 0);
  job_.Wait(milliseconds(1));
  EXPECT_EQ(job_.Count("lost"), 1);
}

TEST_F(JobStandstillTest, ASmallOneLeavesTheBreakItsPuttingOff) {
  job_.Fails("a", ExitedWith(0, 1));
  job_.StandStill(seconds(8));
  job_.Idle("a");
  job_.Report("b");
  job_.StandStill(seconds(60));
  job_.Report("a");
  EXPECT_EQ(job_.Count("lost"), 0);
}

TEST_F(JobStandstillTest, ABreakThatIsAboutToEndIsPutOffAsWell) {
  job_.Fails("a", ExitedWith(0, 1));
  job_.Wait(seconds(5));
  job_.StandStill(milliseconds(9900));
  job_.Idle("a");
  job_.Wait(milliseconds(4999));
  EXPECT_EQ(job_.Count("lost"), 0);
  job_.Wait(milliseconds(1));
  EXPECT_EQ(job_.Count("lost"), 1);
}

TEST(JobStandstill, WhoMayHaveStartedMeanwhileIsNotLost) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  job.Join("b");
  job.Runs("a");
  job.StandStill(seconds(61));
  job.Report("a");
  job.Wait(milliseconds(4999));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  job.Wait(milliseconds(1));
  EXPECT_EQ(job.Decided("lost"),
            "b is lost: it did not start its workers within 60 s");
}

TEST(JobStandstill, WhoMayHaveJoinedMeanwhileIsWaitedFor) {
  JobFixture job(QuickSpec(3, 3));
  job.Join("a");
  job.StandStill(seconds(61));
  job.Join("b");
  job.Wait(milliseconds(4999));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Wait(milliseconds(1));
  EXPECT_EQ(job.told("a").verdict.outcome, Outcome::kTimedOut);
}

TEST(JobStandstill, WhoMayHaveComeBackMeanwhileIsWaitedFor) {
  JobSpec spec = QuickSpec(2, 2);
  spec.rejoin_timeout = seconds(20);
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  job.BreakStream("b");
  job.Wait(milliseconds(500));
  job.AllStop();
  ASSERT_EQ(job.phase(), JobPhase::kGathering);
  job.StandStill(seconds(30));
  job.Report("a");
  job.Wait(milliseconds(4999));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Wait(milliseconds(1));
  EXPECT_THAT(job.told("a").verdict.reason,
              HasSubstr("no other came within 20 s"));
}

TEST(JobStandstill, ABrokenStreamNeverHasLongerThanALease) {
  JobSpec spec = QuickSpec(1, 2);
  spec.reconnect_grace = seconds(8);
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  job.BreakStream("b");
  job.StandStill(seconds(60));
  job.Report("a");
  job.Wait(seconds(5));
  EXPECT_EQ(job.Count("lost"), 1);
}

TEST_F(JobStandstillTest, AStepThatIsALittleLateShowsNone) {
  job_.agent("b").silent = true;
  job_.Wait(milliseconds(4950));
  job_.StandStill(milliseconds(150));
  job_.Report("a");
  EXPECT_EQ(job_.Count("lost"), 1);
}

TEST_F(JobStandstillTest, AStepThatIsLateShowsOne) {
  job_.agent("b").silent = true;
  job_.Wait(milliseconds(4950));
  job_.StandStill(milliseconds(151));
  job_.Report("a");
  EXPECT_EQ(job_.Count("lost"), 0);
}

}  // namespace
}  // namespace muster::rendezvous
