// Unfit nodes are kept out, and let in once they are fit.

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

void Found(JobFixture& job, const std::string& name, Fitness fitness,
           const std::string& unfit = "") {
  Report& report = job.agent(name).report;
  report.fitness = fitness;
  report.unfit = unfit;
  job.Report(name);
}

void JoinUnfit(JobFixture& job, const std::string& name,
               const std::string& unfit) {
  Report& report = job.Create(name).report;
  report.fitness = Fitness::kUnfit;
  report.unfit = unfit;
  job.Join(name);
}

TEST(JobFitness, AnUnfitNodeIsKeptOutAndNamed) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  JoinUnfit(job, "b", "no disk");
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  EXPECT_EQ(job.told("b").kind, DirectiveKind::kWait);
  EXPECT_EQ(job.told("b").reason,
            "this node is not let in: no disk; it is looked at again and "
            "again (1 of 2 nodes here, waiting for 1 more)");
  job.Report("a");
  EXPECT_THAT(job.told("a").reason, HasSubstr("1 of 2 nodes here"));
  EXPECT_THAT(job.told("a").reason, HasSubstr("unfit: b (no disk)"));
  EXPECT_EQ(job.Decided("unfit"), "b is kept out: no disk");
  EXPECT_EQ(job.status().nodes[1].fitness, Fitness::kUnfit);
  EXPECT_EQ(job.status().nodes[1].unfit, "no disk");
}

TEST(JobFitness, TheUnfitHearOfEachOther) {
  JobFixture job(QuickSpec(3, 3));
  JoinUnfit(job, "a", "no disk");
  JoinUnfit(job, "b", "no GPU");
  EXPECT_THAT(job.told("b").reason,
              AllOf(HasSubstr("unfit: a (no disk)"), Not(HasSubstr("b ("))));
}

TEST(JobFitness, WhoWaitsForItsOwnCheckIsTold) {
  JobFixture job(QuickSpec(2, 2));
  job.Create("a").report.fitness = Fitness::kUnchecked;
  job.Join("a");
  EXPECT_EQ(job.told("a").reason,
            "this node is being checked (0 of 2 nodes here, waiting for 2 "
            "more)");
  Found(job, "a", Fitness::kFit);
  EXPECT_EQ(job.told("a").reason, "1 of 2 nodes here, waiting for 1 more");
}

TEST(JobFitness, WhoIsStillBeingCheckedHasCome) {
  JobFixture job(QuickSpec(1, 1));
  job.Create("a").report.fitness = Fitness::kUnchecked;
  job.Join("a");
  job.Wait(seconds(60));
  ASSERT_EQ(job.kind("a"), DirectiveKind::kFinished);
  EXPECT_THAT(job.told("a").verdict.reason, HasSubstr("came and were found"));
}

TEST(JobFitness, ALaterSuccessLetsItIn) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  JoinUnfit(job, "b", "no disk");
  Found(job, "b", Fitness::kFit);
  EXPECT_EQ(job.kind("b"), DirectiveKind::kRun);
  EXPECT_EQ(job.Decided("fit"), "b is fit again");
}

TEST(JobFitness, TheJoinTimeOutNamesIt) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  JoinUnfit(job, "b", "no disk");
  job.Wait(seconds(60));
  ASSERT_EQ(job.kind("a"), DirectiveKind::kFinished);
  EXPECT_EQ(job.told("a").verdict.outcome, Outcome::kTimedOut);
  EXPECT_EQ(job.told("a").verdict.reason,
            "only 1 of at least 2 nodes came and were found fit within 60 s; "
            "unfit: b (no disk)");
}

TEST(JobFitness, OfManyOnlySomeAreNamed) {
  JobFixture job(QuickSpec(20, 20));
  for (int i = 10; i < 25; ++i) {
    JoinUnfit(job, "n" + std::to_string(i), "no disk");
  }
  EXPECT_THAT(job.status().reason, HasSubstr("n17 (no disk), …"));
  EXPECT_THAT(job.status().reason, Not(HasSubstr("n18")));
}

TEST(JobFitness, AnUnfitSpareDoesNotBreakTheRound) {
  JobFixture job(QuickSpec(1, 2));
  job.Join("a");
  job.Wait(seconds(4));
  job.Runs("a");
  JoinUnfit(job, "b", "no disk");
  job.Wait(seconds(10));
  EXPECT_EQ(job.round(), 1);
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  Found(job, "b", Fitness::kFit);
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.Idle("a");
  EXPECT_THAT(job.World(), ElementsAre("a", "b"));
}

// A node that runs workers keeps running, whatever fitness it reports.
TEST(JobFitness, IsLookedAtBetweenRoundsOnly) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  Found(job, "b", Fitness::kUnfit, "no disk");
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

// Without waiting for a check of 5 s, each restart would lose the nodes whose
// check ends last.
TEST(JobFitness, WhoIsBeingCheckedIsWaitedFor) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  ASSERT_THAT(job.World(), ElementsAre("a", "b"));
  job.agent("a").report.fitness = Fitness::kUnchecked;
  job.agent("b").report.fitness = Fitness::kUnchecked;
  job.Fails("b", ExitedWith(2, 1));
  job.Idle("a");
  job.Idle("b");
  Found(job, "a", Fitness::kFit);
  job.Wait(seconds(5));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  Found(job, "b", Fitness::kFit);
  EXPECT_EQ(job.round(), 2);
  EXPECT_THAT(job.World(), ElementsAre("a", "b"));
}

TEST(JobFitness, WhoIsFoundUnfitIsNotWaitedFor) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.agent("a").report.fitness = Fitness::kUnchecked;
  job.agent("b").report.fitness = Fitness::kUnchecked;
  job.Fails("b", ExitedWith(2, 1));
  job.Idle("a");
  job.Idle("b");
  Found(job, "b", Fitness::kUnfit, "no disk");
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  Found(job, "a", Fitness::kFit);
  EXPECT_EQ(job.round(), 2);
  EXPECT_THAT(job.World(), ElementsAre("a"));
}

TEST(JobFitness, TheJoinTimeOutWaitsForNoCheck) {
  JobFixture job(QuickSpec(1, 2));
  job.Create("b").report.fitness = Fitness::kUnchecked;
  job.Join("a");
  job.Join("b");
  job.Wait(seconds(59));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Wait(seconds(1));
  EXPECT_THAT(job.World(), ElementsAre("a"));
}

}  // namespace
}  // namespace muster::rendezvous
