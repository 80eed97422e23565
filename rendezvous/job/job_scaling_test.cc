// Scaling up: waiting nodes are let in.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/job/job_fixture.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(JobScaling, AWaitingNodeIsLetInAfterTheCoolDown) {
  JobSpec spec = QuickSpec(1, 3);
  spec.last_call = Duration::zero();
  JobFixture job(spec);
  job.StartAll({"a"});
  job.Join("b");
  EXPECT_EQ(job.told("b").reason,
            "round 1 runs with 1 of up to 3 nodes; this node is let in at the "
            "next round");
  job.Wait(milliseconds(4999));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  job.Wait(milliseconds(1));
  EXPECT_EQ(job.Decided("break"),
            "round 1 is broken: 1 node waited to be let in");
  EXPECT_EQ(job.told("a").stop.cause, StopCause::kAsked);
  job.Idle("a");
  EXPECT_THAT(job.World(), ElementsAre("a", "b"));
  EXPECT_EQ(job.told("a").place.restart_count, 0);
}

TEST(JobScaling, AtOnceWhereTheRoundHasRunLongEnough) {
  JobSpec spec = QuickSpec(1, 3);
  spec.last_call = Duration::zero();
  JobFixture job(spec);
  job.StartAll({"a"});
  job.Wait(seconds(30));
  job.Join("b");
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
}

TEST(JobScaling, NeverMeansUntilTheRoundBreaksForAnotherCause) {
  JobSpec spec = QuickSpec(1, 3);
  spec.last_call = Duration::zero();
  spec.scale_up = ScaleUp::kNever;
  JobFixture job(spec);
  job.StartAll({"a"});
  job.Join("b");
  EXPECT_THAT(job.told("b").reason, HasSubstr("--scale-up=never"));
  job.Wait(seconds(60));
  EXPECT_EQ(job.round(), 1);
  job.Fails("a", ExitedWith(0, 1));
  job.Idle("a");
  EXPECT_THAT(job.World(), ElementsAre("a", "b"));
}

TEST(JobScaling, NotWhereTheWorldIsFull) {
  JobFixture job(QuickSpec(1, 1));
  job.StartAll({"a"});
  job.Join("b");
  job.Wait(seconds(60));
  EXPECT_EQ(job.round(), 1);
}

TEST(JobScaling, NotWhereSomebodyHasSucceededAlready) {
  JobSpec spec = QuickSpec(2, 3);
  JobFixture job(spec);
  job.Join("a");
  job.Join("b");
  job.Wait(seconds(4));
  job.Runs("a");
  job.Runs("b");
  job.Join("c");
  job.Succeeds("a");
  job.Wait(seconds(60));
  EXPECT_EQ(job.round(), 1);
  job.Succeeds("b");
  EXPECT_EQ(job.phase(), JobPhase::kFinished);
}

TEST(JobScaling, NotForOneThatIsGone) {
  JobSpec spec = QuickSpec(1, 3);
  spec.last_call = Duration::zero();
  JobFixture job(spec);
  job.StartAll({"a"});
  job.Join("b");
  job.BreakStream("b");
  job.Wait(seconds(60));
  EXPECT_EQ(job.round(), 1);
}

TEST(JobScaling, OneToThreeInTwoSteps) {
  JobSpec spec = QuickSpec(1, 3);
  spec.last_call = Duration::zero();
  JobFixture job(spec);
  job.StartAll({"a"});
  for (const char* name : {"b", "c"}) {
    job.Join(name);
    job.Wait(seconds(5));
    job.AllStop();
    for (const std::string& member : job.World()) job.Runs(member);
  }
  EXPECT_EQ(job.round(), 3);
  EXPECT_THAT(job.World(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(job.status().restarts_used, 0);
}

}  // namespace
}  // namespace muster::rendezvous
