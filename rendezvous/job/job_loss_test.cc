// Tests of nodes that are lost because their stream broke or they are silent,
// and of the consequences. Also tests of a suspended coordinator: while its
// process is suspended it reads no messages, and no node may be lost because of
// that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/job/job_fixture.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(JobLoss, ABrokenStreamIsALossAfterTheReconnectGrace) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.BreakStream("b");
  job.Wait(milliseconds(499));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_FALSE(job.status().nodes[1].connected);
  job.Wait(milliseconds(1));
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  EXPECT_EQ(job.Decided("lost"),
            "b is lost: its connection broke and it did not come back within "
            "0.5 s");
  EXPECT_EQ(job.status().restarts_used, 0);
  EXPECT_EQ(job.kind("a"), DirectiveKind::kStop);
  EXPECT_EQ(job.told("a").stop.cause, StopCause::kBroken);
}

TEST(JobLoss, ComingBackWithinTheGraceIsNoLoss) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.BreakStream("b");
  job.Wait(milliseconds(499));
  job.Reconnect("b");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kRun);
  job.Wait(seconds(20));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_EQ(job.round(), 1);
}

// An agent reconnects before the coordinator notices that the agent's old
// connection has ended. The end of the old connection must not count as a loss.
TEST(JobLoss, TheEndOfAnOlderStreamIsNoLoss) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  const StreamId old = job.agent("b").stream;
  job.Reconnect("b");
  job.Step(StreamClosed{old});
  job.Wait(seconds(20));
  EXPECT_EQ(job.round(), 1);
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

TEST(JobLoss, SilenceIsALossAfterTheLease) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.agent("b").silent = true;
  job.Wait(milliseconds(4999));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  job.Wait(milliseconds(1));
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  EXPECT_EQ(job.Decided("lost"),
            "b is lost: its agent has been silent for 5 s (lease 5 s)");
}

TEST(JobLoss, AStaleReportIsNoSignOfLife) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.agent("b").silent = true;
  job.Wait(seconds(4));
  --job.agent("b").report.sequence;
  job.Report("b");  // stale: repeats the last report's sequence number
  job.Wait(seconds(1));
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
}

TEST(JobLoss, ALateReportDoesNotBringALostNodeBack) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.agent("b").silent = true;
  job.Wait(seconds(5));
  --job.agent("b").report.sequence;
  job.Report("b");  // stale: repeats the last report's sequence number
  EXPECT_EQ(job.status().nodes.size(), 1u);
  job.Report("b");
  EXPECT_EQ(job.status().nodes.size(), 2u);
}

TEST(JobLoss, ABreakDoesNotLengthenTheLease) {
  JobSpec spec = QuickSpec(1, 2);
  spec.reconnect_grace = seconds(60);
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  job.Wait(seconds(3));
  job.BreakStream("b");
  job.Wait(milliseconds(4999));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  job.Wait(milliseconds(1));
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
}

TEST(JobLoss, ASpareIsUsedAtOnce) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b", "c"});
  job.BreakStream("a");
  job.Wait(milliseconds(500));
  job.Idle("b");
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_EQ(job.round(), 2);
  EXPECT_THAT(job.World(), ElementsAre("c", "b"));
  EXPECT_EQ(job.told("b").place.restart_count, 0);
}

TEST(JobLoss, SurvivorsThatAreEnoughGoOnAtOnce) {
  JobFixture job(QuickSpec(2, 3));
  job.StartAll({"a", "b", "c"});
  job.BreakStream("b");
  job.Wait(milliseconds(500));
  job.Idle("a");
  job.Idle("c");
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_THAT(job.World(), ElementsAre("a", "c"));
}

TEST(JobLoss, SurvivorsWaitForAReplacementAsLongAsAsked) {
  JobSpec spec = QuickSpec(2, 3);
  spec.wait_for_replacement = seconds(20);
  JobFixture job(spec);
  job.StartAll({"a", "b", "c"});
  job.BreakStream("b");
  job.Wait(milliseconds(500));
  job.Idle("a");
  job.Idle("c");
  job.Wait(milliseconds(19'999));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Wait(milliseconds(1));
  EXPECT_THAT(job.World(), ElementsAre("a", "c"));
}

TEST(JobLoss, AReplacementEndsTheWait) {
  JobSpec spec = QuickSpec(2, 3);
  spec.wait_for_replacement = seconds(20);
  JobFixture job(spec);
  job.StartAll({"a", "b", "c"});
  job.BreakStream("b");
  job.Wait(milliseconds(500));
  job.Idle("a");
  job.Idle("c");
  job.Wait(seconds(1));
  job.Join("d");
  EXPECT_THAT(job.World(), ElementsAre("a", "d", "c"));
}

TEST(JobLoss, TooFewWaitForOthersWithoutALastCall) {
  JobFixture job(QuickSpec(2, 4));
  job.StartAll({"a", "b"});
  job.Wait(seconds(4));
  job.Runs("a");
  job.Runs("b");
  job.BreakStream("b");
  job.Wait(milliseconds(500));
  job.Idle("a");
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Report("a");
  EXPECT_THAT(job.told("a").reason, HasSubstr("1 of at least 2 nodes here"));
  job.Join("c");
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

// After a network failure several nodes reconnect, each at a slightly different
// time. The next world does not form while a node is still within its reconnect
// grace.
TEST(JobLoss, ANodeThatIsAboutToReconnectIsWorthAMoment) {
  JobFixture job(QuickSpec(1, 3));
  job.StartAll({"a", "b", "c"});
  job.BreakStream("b");
  job.Wait(milliseconds(400));
  job.BreakStream("c");
  job.Wait(milliseconds(100));
  job.Idle("a");  // By now node b is lost; node c may still return, for 400 ms.
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.Reconnect("c");
  job.Idle("c");
  EXPECT_THAT(job.World(), ElementsAre("a", "c"));
}

TEST(JobLoss, StoppedNodeMayReconnect) {
  JobFixture job(QuickSpec(1, 3));
  job.StartAll({"a", "b", "c"});
  job.Fails("a", ExitedWith(0, 1));
  job.Idle("c");
  job.BreakStream("c");
  job.Idle("a");
  job.Idle("b");
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Wait(milliseconds(400));
  job.Reconnect("c");
  EXPECT_THAT(job.World(), ElementsAre("a", "b", "c"));
}

TEST(JobLoss, ASpareWithABrokenStreamHoldsAGatheringUpForItsGraceOnly) {
  JobFixture job(QuickSpec(1, 3));
  job.StartAll({"a", "b", "c", "spare"});
  job.Fails("a", ExitedWith(0, 1));
  job.Idle("a");
  job.Idle("b");
  job.BreakStream("spare");
  job.BreakStream("c");
  job.Wait(milliseconds(499));
  EXPECT_NE(job.phase(), JobPhase::kRunning);
  job.Wait(milliseconds(1));
  EXPECT_THAT(job.World(), ElementsAre("a", "b"));
}

TEST(JobLoss, LossAfterSuccessIsNoLoss) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Succeeds("a");
  job.BreakStream("a");
  job.Wait(seconds(3));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  job.Succeeds("b");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kFinished);
  EXPECT_EQ(job.told("b").verdict.outcome, Outcome::kSucceeded);
}

TEST(JobLoss, LossWhileStoppingIsNotWaitedFor) {
  JobFixture job(QuickSpec(1, 3));
  job.StartAll({"a", "b", "c"});
  job.Fails("a", ExitedWith(0, 1));
  job.Idle("a");
  job.Idle("b");
  job.BreakStream("c");
  job.Wait(milliseconds(500));
  EXPECT_EQ(job.round(), 2);
  EXPECT_THAT(job.World(), ElementsAre("a", "b"));
}

TEST(JobLoss, LossOfOneThatHasStoppedIsNotCountedTwice) {
  JobFixture job(QuickSpec(1, 3));
  job.StartAll({"a", "b", "c"});
  job.Fails("a", ExitedWith(0, 1));
  job.Idle("a");
  job.BreakStream("a");
  job.Wait(milliseconds(500));
  job.Idle("b");
  // Node c is still stopping its workers, so no new round begins.
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.Idle("c");
  EXPECT_THAT(job.World(), ElementsAre("c", "b"));
}

TEST(JobLoss, ALostSpareBreaksNothing) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b", "c"});
  job.Lose("c");
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_EQ(job.Count("lost"), 1);
  EXPECT_EQ(job.status().nodes.size(), 2u);
}

TEST(JobLoss, ALostNodeThatStillRunsIsStoppedAndLetInAgain) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.agent("b").silent = true;
  job.Wait(seconds(5));
  job.Idle("a");
  ASSERT_EQ(job.round(), 2);
  job.Runs("a");
  job.Report("b");  // b's agent was stopped by SIGSTOP and runs again
  ASSERT_EQ(job.kind("b"), DirectiveKind::kStop);
  EXPECT_EQ(job.told("b").stop.round, 1);
  job.agent("b").silent = false;
  job.Idle("b");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kWait);
  job.Wait(seconds(6));
  EXPECT_EQ(job.kind("a"), DirectiveKind::kStop);
  job.Idle("a");
  EXPECT_THAT(job.World(), ElementsAre("a", "b"));
}

// Node b was lost and comes back. A kRun directive from before the loss may
// still be in flight to b, so b may start workers although it reports that it
// is idle. Node b gets a place only after it has seen a newer directive.
TEST(JobLoss, ANodeThatCameBackIsGivenAPlaceOnceItHasSeenTheNews) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  job.Create("b").deaf = true;
  job.Join("b");
  ASSERT_EQ(job.round(), 1);
  job.Runs("a");
  job.agent("b").silent = true;
  job.Wait(seconds(5));
  job.Idle("a");
  ASSERT_EQ(job.phase(), JobPhase::kGathering);
  job.Report("b");
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.agent("b").deaf = false;
  job.Report("b");  // node b receives a kWait directive
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Report("b");  // node b reports that it has received the kWait directive
  EXPECT_EQ(job.round(), 2);
}

TEST(JobLoss, AnAgentStartedAnewTakesItsPlaceWithoutWaitingForTheGrace) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.BreakStream("b");
  job.Restart("b");
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  EXPECT_THAT(job.Decided("lost"), HasSubstr("its agent was started anew"));
  job.Idle("a");
  EXPECT_EQ(job.round(), 2);
  EXPECT_THAT(job.World(), ElementsAre("a", "b"));
}

// A job that runs on two nodes, although one node suffices (min_nodes 1). The
// lease is 5 s.
class JobStandstillTest : public ::testing::Test {
 protected:
  JobStandstillTest() : job_(QuickSpec(1, 2)) { job_.StartAll({"a", "b"}); }

  JobFixture job_;
};

TEST_F(JobStandstillTest, NoNodeIsLost) {
  job_.StandStill(seconds(60));
  job_.Report("a");
  job_.Report("b");
  job_.Wait(seconds(20));
  EXPECT_EQ(job_.Count("lost"), 0);
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
}

// A job with min_nodes 1 and max_nodes 3. The job's wait for more nodes (the
// last call) ends while the coordinator's process is suspended.
class JobGatheringStandstillTest : public ::testing::Test {
 protected:
  static JobSpec Spec() {
    JobSpec spec = QuickSpec(1, 3);
    spec.last_call = seconds(4);
    return spec;
  }
  // Suspends the coordinator's process for longer than the last call and the
  // lease. Then the job handles the deadline that has passed meanwhile, and
  // node "a" reports at once.
  void StandStill() {
    job_.StandStill(Spec().last_call + Spec().lease() + seconds(1));
    job_.Step(TimePassed());
    job_.Report("a");
  }

  JobFixture job_{Spec()};
};

TEST_F(JobGatheringStandstillTest, TheWorldHasAllThatAnswer) {
  job_.Join("a");
  job_.Join("b");
  // After the suspension, the coordinator sends node b a directive that b must
  // answer. Node b does not receive it.
  job_.agent("b").deaf = true;
  StandStill();
  job_.Wait(Spec().last_call);
  EXPECT_EQ(job_.phase(), JobPhase::kGathering);
  // When node b can hear again, its first report makes the coordinator repeat
  // that directive, and its second report answers the directive.
  job_.agent("b").deaf = false;
  job_.Report("b");
  job_.Report("b");
  EXPECT_EQ(job_.World(), (std::vector<std::string>{"a", "b"}));
}

TEST_F(JobGatheringStandstillTest, AnOutdatedReportIsNoAnswer) {
  job_.Join("a");
  job_.Join("b");
  job_.agent("b").deaf = true;
  StandStill();
  job_.Wait(Spec().last_call);
  EXPECT_EQ(job_.phase(), JobPhase::kGathering);
  job_.BreakStream("b");
  EXPECT_EQ(job_.World(), (std::vector<std::string>{"a"}));
}

TEST_F(JobGatheringStandstillTest, ANodeThatLeftMeanwhileIsNotAwaited) {
  job_.Join("a");
  job_.Join("b");
  StandStill();
  job_.agent("b").report.leave = "SIGTERM";
  job_.Report("b");
  job_.Wait(Spec().last_call);
  EXPECT_EQ(job_.World(), (std::vector<std::string>{"a"}));
}

TEST_F(JobGatheringStandstillTest, ANodeThatJoinedMeanwhileMustAnswer) {
  job_.Join("a");
  StandStill();
  job_.Join("b");
  job_.agent("b").silent = true;
  job_.Wait(Spec().last_call);
  EXPECT_EQ(job_.phase(), JobPhase::kGathering);
  job_.Report("b");
  EXPECT_EQ(job_.World(), (std::vector<std::string>{"a", "b"}));
}

TEST_F(JobGatheringStandstillTest, ANodeThatConnectedAgainMeanwhileMustAnswer) {
  job_.Join("a");
  job_.Join("b");
  job_.BreakStream("b");
  StandStill();
  job_.agent("b").deaf = true;
  job_.Reconnect("b");
  job_.Wait(Spec().last_call);
  EXPECT_EQ(job_.phase(), JobPhase::kGathering);
  // When node b can hear again, its first report makes the coordinator repeat
  // the newest directive, and its second report confirms this directive. Only
  // then does node b get a place.
  job_.agent("b").deaf = false;
  job_.Report("b");
  job_.Report("b");
  EXPECT_EQ(job_.World(), (std::vector<std::string>{"a", "b"}));
}

TEST_F(JobGatheringStandstillTest,
       ANodeThatNeverAnswersDelaysTheWorldByALease) {
  job_.Join("a");
  job_.Join("b");
  job_.agent("b").deaf = true;
  StandStill();
  job_.Wait(Spec().lease() - milliseconds(1));
  EXPECT_EQ(job_.phase(), JobPhase::kGathering);
  job_.Wait(milliseconds(1));
  EXPECT_EQ(job_.World(), (std::vector<std::string>{"a"}));
}

TEST_F(JobGatheringStandstillTest, EachDirectiveCountsTheNodesThatAreHere) {
  job_.Join("a");
  job_.Join("b");
  StandStill();
  EXPECT_EQ(job_.told("a").reason,
            "2 of up to 3 nodes here, last call for more");
}

// The coordinator is suspended twice, and each time the join time-out passes
// meanwhile. After each suspension the job must wait for the nodes' reports
// before it may end as timed out.
TEST(JobGatheringStandstill, TheJoinTimeoutWaitsForTheAnswersToEachOne) {
  JobSpec spec = QuickSpec(2, 3);
  spec.last_call = spec.join_timeout;
  JobFixture job(spec);
  job.Join("a");
  job.Join("b");
  job.Wait(spec.join_timeout - seconds(2));
  for (int i = 0; i < 2; ++i) {
    job.StandStill(spec.lease() + seconds(1));
    job.Step(TimePassed());
    ASSERT_EQ(job.phase(), JobPhase::kGathering) << job.told("a").reason;
    job.Report("a");
    job.Report("b");
  }
  job.Wait(spec.lease());
  EXPECT_EQ(job.World(), (std::vector<std::string>{"a", "b"}));
}

TEST_F(JobGatheringStandstillTest, AShortOneDelaysNoWorld) {
  job_.Join("a");
  job_.StandStill(Spec().lease());
  job_.Step(TimePassed());
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
}

TEST_F(JobStandstillTest, TimePassedAfterAStandstillLosesNoNode) {
  job_.StandStill(seconds(60));
  job_.Step(TimePassed());
  job_.Wait(seconds(20));
  EXPECT_EQ(job_.Count("lost"), 0);
}

TEST_F(JobStandstillTest, ANodeSilentAfterwardsIsLostAfterAnotherLease) {
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
  job_.StandStill(milliseconds(4900));  // node b's lease lasts 100 ms more
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

// The second of two late steps must not extend the lease of a silent node
// again. Otherwise a dead node would never be lost on a machine where every
// step is late.
TEST_F(JobStandstillTest, SecondStandstillIsNotExcused) {
  job_.StandStill(seconds(60));
  job_.Report("a");
  EXPECT_EQ(job_.Count("lost"), 0);
  job_.StandStill(seconds(6));
  job_.Report("a");
  EXPECT_EQ(job_.Decided("lost"),
            "b is lost: its agent has been silent for 66 s (lease 5 s)");
}

TEST_F(JobStandstillTest, ANodeThatReportedSinceIsForgivenAgain) {
  job_.StandStill(seconds(60));
  job_.Report("a");
  job_.Report("b");
  job_.StandStill(seconds(60));
  job_.Report("a");
  EXPECT_EQ(job_.Count("lost"), 0);
}

TEST_F(JobStandstillTest, ANodeThatMayHaveStoppedIsNotLost) {
  job_.Fails("a", ExitedWith(0, 1));
  job_.StandStill(seconds(60));
  job_.Idle("a");
  EXPECT_EQ(job_.Count("lost"), 0);
  job_.Idle("b");
  EXPECT_EQ(job_.Count("lost"), 0);
  // After a suspension the coordinator sends every node a new directive, and
  // forms no world before the nodes have answered it.
  job_.Report("a");
  job_.Report("b");
  EXPECT_EQ(job_.round(), 2);
}

TEST_F(JobStandstillTest, ANodeThatHasNotStoppedIsLostAfterAnotherLease) {
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
  // After a suspension the coordinator sends every node a new directive, and
  // forms no world before the nodes have answered it.
  job_.Report("a");
  job_.Report("b");
  job_.Runs("a");
  job_.Runs("b");
  job_.BreakStream("b");
  job_.Wait(milliseconds(500));  // node b is lost
  job_.StandStill(seconds(60));
  job_.Step(TimePassed());
  EXPECT_EQ(job_.Count("lost"), 1);
}

// The members have 15 s to stop. The coordinator's process is suspended for 8 s
// of this time. The suspension must not extend the time limit, because the
// limit is still in the future when the process continues.
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

TEST(JobStandstill, ANodeThatMayHaveStartedIsNotLost) {
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

TEST(JobStandstill, WaitsForNodesThatMayHaveJoined) {
  JobFixture job(QuickSpec(3, 3));
  job.Join("a");
  job.StandStill(seconds(61));
  job.Join("b");
  job.Wait(milliseconds(4999));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Wait(milliseconds(1));
  EXPECT_EQ(job.told("a").verdict.outcome, Outcome::kTimedOut);
}

TEST(JobStandstill, WaitsForNodesThatMayHaveComeBack) {
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
