// Unhealthy nodes are kept out, and let in once they are healthy.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/job/job_fixture.h"

namespace muster::rendezvous {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

void Found(JobFixture& job, const std::string& name, Health health,
           const std::string& unhealthy = "") {
  Report& report = job.agent(name).report;
  report.health = health;
  report.unhealthy = unhealthy;
  job.Report(name);
}

void JoinUnhealthy(JobFixture& job, const std::string& name,
                   const std::string& unhealthy) {
  Report& report = job.Create(name).report;
  report.health = Health::kUnhealthy;
  report.unhealthy = unhealthy;
  job.Join(name);
}

TEST(JobHealth, AnUnhealthyNodeIsKeptOutAndNamed) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  JoinUnhealthy(job, "b", "no disk");
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  EXPECT_EQ(job.told("b").kind, DirectiveKind::kWait);
  EXPECT_EQ(job.told("b").reason,
            "this node is not let in: no disk; it is looked at again and "
            "again (1 of 2 nodes here, waiting for 1 more)");
  job.Report("a");
  EXPECT_THAT(job.told("a").reason, HasSubstr("1 of 2 nodes here"));
  EXPECT_THAT(job.told("a").reason, HasSubstr("unhealthy: b (no disk)"));
  EXPECT_EQ(job.Decided("unhealthy"), "b is kept out: no disk");
  EXPECT_EQ(job.status().nodes[1].health, Health::kUnhealthy);
  EXPECT_EQ(job.status().nodes[1].unhealthy, "no disk");
}

TEST(JobHealth, TheUnhealthyHearOfEachOther) {
  JobFixture job(QuickSpec(3, 3));
  JoinUnhealthy(job, "a", "no disk");
  JoinUnhealthy(job, "b", "no GPU");
  EXPECT_THAT(job.told("b").reason, AllOf(HasSubstr("unhealthy: a (no disk)"),
                                          Not(HasSubstr("b ("))));
}

TEST(JobHealth, WhoWaitsForItsOwnCheckIsTold) {
  JobFixture job(QuickSpec(2, 2));
  job.Create("a").report.health = Health::kUnchecked;
  job.Join("a");
  EXPECT_EQ(job.told("a").reason,
            "this node is being checked (0 of 2 nodes here, waiting for 2 "
            "more)");
  Found(job, "a", Health::kHealthy);
  EXPECT_EQ(job.told("a").reason, "1 of 2 nodes here, waiting for 1 more");
}

TEST(JobHealth, WhoIsStillBeingCheckedHasCome) {
  JobFixture job(QuickSpec(1, 1));
  job.Create("a").report.health = Health::kUnchecked;
  job.Join("a");
  job.Wait(seconds(60));
  ASSERT_EQ(job.kind("a"), DirectiveKind::kFinished);
  EXPECT_THAT(job.told("a").verdict.reason, HasSubstr("came and were found"));
}

TEST(JobHealth, ALaterSuccessLetsItIn) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  JoinUnhealthy(job, "b", "no disk");
  Found(job, "b", Health::kHealthy);
  EXPECT_EQ(job.kind("b"), DirectiveKind::kRun);
  EXPECT_EQ(job.Decided("healthy"), "b is healthy again");
}

TEST(JobHealth, TheJoinTimeOutNamesIt) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  JoinUnhealthy(job, "b", "no disk");
  job.Wait(seconds(60));
  ASSERT_EQ(job.kind("a"), DirectiveKind::kFinished);
  EXPECT_EQ(job.told("a").verdict.outcome, Outcome::kTimedOut);
  EXPECT_EQ(
      job.told("a").verdict.reason,
      "only 1 of at least 2 nodes came and were found healthy within 60 s; "
      "unhealthy: b (no disk)");
}

TEST(JobHealth, OfManyOnlySomeAreNamed) {
  JobFixture job(QuickSpec(20, 20));
  for (int i = 10; i < 25; ++i) {
    JoinUnhealthy(job, "n" + std::to_string(i), "no disk");
  }
  EXPECT_THAT(job.status().reason, HasSubstr("n17 (no disk), …"));
  EXPECT_THAT(job.status().reason, Not(HasSubstr("n18")));
}

TEST(JobHealth, AnUnhealthySpareDoesNotBreakTheRound) {
  JobFixture job(QuickSpec(1, 2));
  job.Join("a");
  job.Wait(seconds(4));
  job.Runs("a");
  JoinUnhealthy(job, "b", "no disk");
  job.Wait(seconds(10));
  EXPECT_EQ(job.round(), 1);
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  Found(job, "b", Health::kHealthy);
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.Idle("a");
  EXPECT_THAT(job.World(), ElementsAre("a", "b"));
}

// A node that runs workers keeps running, whatever health it reports.
TEST(JobHealth, IsLookedAtBetweenRoundsOnly) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  Found(job, "b", Health::kUnhealthy, "no disk");
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

// Without waiting for a check of 5 s, each restart would lose the nodes whose
// check ends last.
TEST(JobHealth, WhoIsBeingCheckedIsWaitedFor) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  ASSERT_THAT(job.World(), ElementsAre("a", "b"));
  job.agent("a").report.health = Health::kUnchecked;
  job.agent("b").report.health = Health::kUnchecked;
  job.Fails("b", ExitedWith(2, 1));
  job.Idle("a");
  job.Idle("b");
  Found(job, "a", Health::kHealthy);
  job.Wait(seconds(5));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  Found(job, "b", Health::kHealthy);
  EXPECT_EQ(job.round(), 2);
  EXPECT_THAT(job.World(), ElementsAre("a", "b"));
}

TEST(JobHealth, WhoIsFoundUnhealthyIsNotWaitedFor) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.agent("a").report.health = Health::kUnchecked;
  job.agent("b").report.health = Health::kUnchecked;
  job.Fails("b", ExitedWith(2, 1));
  job.Idle("a");
  job.Idle("b");
  Found(job, "b", Health::kUnhealthy, "no disk");
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  Found(job, "a", Health::kHealthy);
  EXPECT_EQ(job.round(), 2);
  EXPECT_THAT(job.World(), ElementsAre("a"));
}

TEST(JobHealth, TheJoinTimeOutWaitsForNoCheck) {
  JobFixture job(QuickSpec(1, 2));
  job.Create("b").report.health = Health::kUnchecked;
  job.Join("a");
  job.Join("b");
  job.Wait(seconds(59));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Wait(seconds(1));
  EXPECT_THAT(job.World(), ElementsAre("a"));
}

}  // namespace
}  // namespace muster::rendezvous
