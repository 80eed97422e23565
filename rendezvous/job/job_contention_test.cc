// Two agents that claim one place, and agents that are incompatible with the
// job.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/job/job_fixture.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

// A job of two nodes. Node rank 1 is held by "b"; "c" was started by mistake
// with the same rank.
class JobContentionTest : public ::testing::Test {
 protected:
  JobContentionTest() : job_(QuickSpec(2, 2)) {
    job_.Create("a").report.node.node_rank = 0;
    job_.Create("b").report.node.node_rank = 1;
    job_.StartAll({"a", "b"});
    job_.Create("c").report.node.node_rank = 1;
  }
  JobFixture job_;
};

TEST_F(JobContentionTest, RefusedOnceTheHolderShowsThatItLives) {
  job_.Join("c");
  ASSERT_EQ(job_.kind("c"), DirectiveKind::kWait);
  EXPECT_THAT(job_.told("c").reason, HasSubstr("node b is held by b"));
  EXPECT_EQ(job_.kind("b"), DirectiveKind::kRun);
  job_.Report("b");
  ASSERT_EQ(job_.kind("c"), DirectiveKind::kRefused);
  EXPECT_THAT(job_.told("c").reason, HasSubstr("already held by b"));
  EXPECT_THAT(job_.told("c").reason, HasSubstr("--node-rank"));
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
  EXPECT_EQ(job_.round(), 1);
}

TEST_F(JobContentionTest, AReportThatMayBeOlderThanTheClaimProvesNothing) {
  job_.agent("b").deaf = true;
  job_.Join("c");
  job_.Report("b");
  EXPECT_EQ(job_.kind("c"), DirectiveKind::kWait);
  // Each report of the claimant asks the holder again.
  job_.agent("b").deaf = false;
  job_.Report("b");
  EXPECT_EQ(job_.kind("c"), DirectiveKind::kWait);
  job_.Report("b");
  EXPECT_EQ(job_.kind("c"), DirectiveKind::kRefused);
}

TEST_F(JobContentionTest, AdmittedOnceTheHoldersLeaseHasRunOut) {
  job_.agent("b").silent = true;
  job_.Join("c");
  job_.Wait(seconds(4));
  EXPECT_EQ(job_.kind("c"), DirectiveKind::kWait);
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
  job_.Wait(seconds(1));
  EXPECT_EQ(job_.phase(), JobPhase::kStopping);
  job_.Report("c");
  job_.Idle("a");
  EXPECT_EQ(job_.round(), 2);
  EXPECT_EQ(job_.told("c").place.group_rank, 1);
  // The old holder comes back too late: its place is taken.
  job_.Report("b");
  EXPECT_THAT(job_.told("b").reason, HasSubstr("node c is held by c"));
  job_.Report("c");
  EXPECT_EQ(job_.kind("b"), DirectiveKind::kRefused);
}

TEST_F(JobContentionTest, TheClaimerMayReconnectMeanwhile) {
  job_.agent("b").deaf = true;
  job_.Join("c");
  job_.BreakStream("c");
  job_.Reconnect("c");
  job_.agent("b").deaf = false;
  job_.Report("b");
  job_.Report("b");
  EXPECT_EQ(job_.kind("c"), DirectiveKind::kRefused);
}

TEST_F(JobContentionTest, ALateReportDoesNotTakeThePlaceInstead) {
  job_.agent("b").silent = true;
  job_.Wait(seconds(5));
  job_.Join("c");
  job_.Report("b");  // b was lost, and reports too late to keep its place
  Report late = job_.agent("b").report;
  const StreamId stream = job_.agent("b").stream;
  job_.BreakStream("c");
  job_.Step(ReportArrived{stream, late});
  EXPECT_NE(job_.status().nodes[1].node.node_id, "b");
  ++late.sequence;
  job_.Step(ReportArrived{stream, late});
  EXPECT_EQ(job_.status().nodes[1].node.node_id, "b");
}

// The contender reconnects, and the coordinator still holds its old stream. A
// report that comes late on that one would make it the node's stream: nothing
// sent there arrives, and the end of the new stream would go unnoticed.
TEST_F(JobContentionTest, StaleReportOfAContenderDoesNotTakeThePlace) {
  job_.agent("b").silent = true;
  job_.Join("c");
  const Report stale = job_.agent("c").report;
  const StreamId old = job_.agent("c").stream;
  job_.Reconnect("c");
  job_.agent("c").silent = true;
  job_.Wait(seconds(5));  // b is lost
  job_.Step(ReportArrived{old, stale});
  EXPECT_EQ(job_.status().nodes.size(), 1u);
  job_.Report("c");
  EXPECT_EQ(job_.status().nodes.size(), 2u);
  job_.BreakStream("c");
  job_.Wait(milliseconds(500));
  EXPECT_EQ(job_.status().nodes.size(), 1u);
}

TEST_F(JobContentionTest, ContenderGoesOnWaitingWhenAnotherTakesThePlace) {
  job_.agent("b").silent = true;
  job_.Join("c");
  const Report first = job_.agent("c").report;
  job_.Restart("c");
  job_.agent("c").silent = true;
  job_.Wait(seconds(5));  // b is lost
  job_.Report("c");
  ASSERT_EQ(job_.status().nodes.size(), 2u);
  job_.Create("d").report = first;
  job_.Join("d");
  EXPECT_EQ(job_.kind("d"), DirectiveKind::kWait);
  EXPECT_THAT(job_.told("d").reason, HasSubstr("node c is held by c"));
}

TEST_F(JobContentionTest, AnAgentStartedAnewAtOnceIsNotRefused) {
  // The coordinator has not noticed the end of the old stream, and a report of
  // the dead agent is still in flight.
  JobFixture::Agent& b = job_.agent("b");
  Report last_words = b.report;
  ++last_words.sequence;
  const StreamId old = b.stream;
  job_.Restart("b");
  EXPECT_EQ(job_.kind("b"), DirectiveKind::kWait);
  job_.Step(ReportArrived{old, last_words});
  EXPECT_EQ(job_.kind("b"), DirectiveKind::kWait);
  job_.Step(StreamClosed{old});
  job_.Wait(milliseconds(500));
  job_.Idle("a");
  job_.Report("b");
  EXPECT_EQ(job_.kind("b"), DirectiveKind::kRun);
}

TEST_F(JobContentionTest, AnIncarnationThatWasFollowedNeverComesBack) {
  JobFixture::Agent& b = job_.agent("b");
  const Report old = b.report;
  job_.BreakStream("b");
  job_.Wait(milliseconds(500));  // b is lost; it may still return
  job_.Restart("b");
  job_.Idle("a");
  ASSERT_EQ(job_.round(), 2);
  job_.BreakStream("b");
  Report late = old;
  late.sequence += 10;
  b.stream = 0;
  job_.agent("c").report = late;
  job_.agent("c").report.node = old.node;
  job_.Reconnect("c");
  EXPECT_EQ(job_.kind("c"), DirectiveKind::kRefused);
  EXPECT_EQ(job_.told("c").reason, "another agent has taken this node's place");
  job_.Reconnect("b");
  EXPECT_EQ(job_.kind("b"), DirectiveKind::kRun);
}

TEST(JobAdmission, OtherNnodesAreRefused) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  job.Create("b").report.spec.max_nodes = 3;
  job.Join("b");
  ASSERT_EQ(job.kind("b"), DirectiveKind::kRefused);
  EXPECT_THAT(job.told("b").reason, HasSubstr("--nnodes=2:2"));
  EXPECT_THAT(job.told("b").reason, HasSubstr(job.Decided("refuse")));
  EXPECT_TRUE(job.told("b").another_job);
  EXPECT_EQ(job.status().nodes.size(), 1u);
}

TEST(JobAdmission, AnotherCommandIsRefusedAndToldToThatNodeAlone) {
  JobSpec spec = QuickSpec(1, 1);
  spec.command = "sleep 5 --token=s3cret";
  JobFixture job(spec);
  job.StartAll({"a"});
  job.Create("b").report.spec.command = "true";
  job.Join("b");
  ASSERT_EQ(job.kind("b"), DirectiveKind::kRefused);
  EXPECT_TRUE(job.told("b").another_job);
  EXPECT_THAT(job.told("b").reason, HasSubstr("s3cret"));
  EXPECT_THAT(job.Decided("refuse"), HasSubstr("another command"));
  EXPECT_THAT(job.Decided("refuse"), Not(HasSubstr("s3cret")));
  EXPECT_EQ(job.status().spec.command, "");
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

TEST(JobAdmission, ANodeRankBeyondTheWorldIsRefused) {
  JobFixture job(QuickSpec(2, 2));
  job.Create("a").report.node.node_rank = 2;
  job.Join("a");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kRefused);
  EXPECT_THAT(job.told("a").reason, HasSubstr("node rank 2 is out of range"));
}

// A replacement arrives while the agent that it replaces still writes a
// checkpoint.
class JobSuccession : public JobContentionTest {
 protected:
  JobSuccession() {
    job_.agent("c").report.waits_for_place = true;
    job_.Join("c");
    job_.Report("b");
    job_.Report("c");
  }
};

TEST_F(JobSuccession, WaitsWhileTheHolderIsAlive) {
  ASSERT_EQ(job_.kind("c"), DirectiveKind::kWait);
  EXPECT_THAT(job_.told("c").reason, HasSubstr("which is alive"));
  EXPECT_THAT(job_.status().reason, HasSubstr("c waits for the end of node b"));
  EXPECT_THAT(job_.Decided("successor"), HasSubstr("c, process"));
  job_.Wait(seconds(30));
  EXPECT_EQ(job_.kind("c"), DirectiveKind::kWait);
  EXPECT_EQ(job_.Count("successor"), 1);
  EXPECT_EQ(job_.round(), 1);
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
}

TEST_F(JobSuccession, TakesThePlaceWhenTheHolderHasEnded) {
  job_.BreakStream("b");
  job_.agent("b").silent = true;
  job_.Report("c");
  job_.Idle("a");
  job_.Report("c");
  EXPECT_EQ(job_.round(), 2);
  EXPECT_THAT(job_.World(), ::testing::ElementsAre("a", "c"));
  EXPECT_THAT(job_.status().reason, Not(HasSubstr("waits for the end")));
}

TEST_F(JobSuccession, IsNoLongerShownWhenThePlaceIsFree) {
  EXPECT_THAT(job_.status().reason, HasSubstr("waits for the end"));
  job_.agent("b").silent = true;
  job_.agent("c").silent = true;
  job_.BreakStream("b");
  job_.Wait(seconds(1));  // more than the reconnect grace
  EXPECT_THAT(job_.status().reason, Not(HasSubstr("waits for the end")));
}

TEST_F(JobSuccession, HasABound) {
  job_.Wait(seconds(59));
  EXPECT_EQ(job_.kind("c"), DirectiveKind::kWait);
  job_.agent("c").silent = true;
  job_.Wait(seconds(2));  // the join time-out has passed
  job_.Report("c");
  job_.Report("b");
  EXPECT_EQ(job_.kind("c"), DirectiveKind::kRefused);
  EXPECT_THAT(job_.status().reason, Not(HasSubstr("waits for the end")));
}

TEST_F(JobSuccession, IsToldTheVerdict) {
  job_.Succeeds("a");
  job_.Succeeds("b");
  ASSERT_EQ(job_.kind("c"), DirectiveKind::kFinished);
  EXPECT_EQ(job_.told("c").verdict.outcome, Outcome::kSucceeded);
  // The directive is sent again in case it was lost.
  job_.agent("c").told = Directive();
  job_.Report("c");
  EXPECT_EQ(job_.kind("c"), DirectiveKind::kFinished);
}

TEST_F(JobSuccession, EndsWithItsConnection) {
  job_.BreakStream("c");
  EXPECT_THAT(job_.status().reason, Not(HasSubstr("waits for the end")));
  job_.Reconnect("c");
  job_.Report("b");
  job_.Report("c");
  EXPECT_THAT(job_.told("c").reason, HasSubstr("which is alive"));
}

}  // namespace
}  // namespace muster::rendezvous
