// The node that prints what concerns all nodes, where their outputs share a
// console.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/job/job_fixture.h"

namespace muster::rendezvous {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The nodes among `names` whose directive is of `kind` and has said_here set.
std::vector<std::string> Say(JobFixture& job, DirectiveKind kind,
                             const std::vector<std::string>& names) {
  std::vector<std::string> speakers;
  for (const std::string& name : names) {
    const Directive& told = job.told(name);
    if (told.kind == kind && told.said_here) speakers.push_back(name);
  }
  return speakers;
}

TEST(JobSpeaker, TheFirstThatCameSaysWhatIsWaitedFor) {
  JobFixture job(QuickSpec(4, 4));
  std::vector<std::string> here;
  for (const char* name : {"b", "a", "c"}) {
    job.Join(name);
    here.emplace_back(name);
    job.Report("b");
    EXPECT_THAT(Say(job, DirectiveKind::kWait, here), ElementsAre("b"));
  }
  EXPECT_THAT(job.told("b").reason, HasSubstr("3 of 4"));
  job.BreakStream("b");
  job.Report("c");
  job.Report("a");
  EXPECT_THAT(Say(job, DirectiveKind::kWait, {"a", "c"}), ElementsAre("a"));
  job.Reconnect("b");
  job.Report("a");
  EXPECT_THAT(Say(job, DirectiveKind::kWait, {"a", "b", "c"}),
              ElementsAre("a"));
}

TEST(JobSpeaker, OfARoundItIsTheNodeOfRankZero) {
  JobFixture job(QuickSpec(3, 3));
  job.StartAll({"b", "c", "a"});
  EXPECT_THAT(job.World(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Say(job, DirectiveKind::kRun, {"a", "b", "c"}), ElementsAre("a"));
}

TEST(JobSpeaker, OfABreakItIsTheLowestRankThatIsLeft) {
  JobFixture job(QuickSpec(3, 3));
  job.StartAll({"a", "b", "c"});
  job.agent("a").silent = true;
  job.BreakStream("a");
  job.Wait(seconds(1));
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  EXPECT_THAT(Say(job, DirectiveKind::kStop, {"b", "c"}), ElementsAre("b"));
  job.Stopping("c");
  job.Idle("c");
  job.Stopping("b");
  job.Idle("b");
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  EXPECT_THAT(Say(job, DirectiveKind::kWait, {"b", "c"}), ElementsAre("b"));
  EXPECT_THAT(job.told("b").reason, HasSubstr("round 1 is over"));
}

TEST(JobSpeaker, ASpareSaysThatItIsOne) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  for (const char* name : {"c", "d"}) job.Join(name);
  EXPECT_THAT(Say(job, DirectiveKind::kWait, {"c", "d"}),
              ElementsAre("c", "d"));
  job.Fails("b", ExitedWith(2, 1));
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.Report("c");
  EXPECT_THAT(job.told("c").reason, HasSubstr("is being stopped"));
  EXPECT_THAT(Say(job, DirectiveKind::kWait, {"c"}), IsEmpty());
}

TEST(JobSpeaker, ANodeThatTheJobWentOnWithoutSaysSo) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.agent("b").silent = true;
  job.BreakStream("b");
  job.Wait(seconds(1));
  job.AllStop();
  job.Runs("a");
  EXPECT_EQ(job.round(), 2);
  job.Reconnect("b");
  EXPECT_THAT(Say(job, DirectiveKind::kStop, {"b"}), ElementsAre("b"));
  EXPECT_EQ(job.told("b").reason, "the job went on without this node");
}

TEST(JobSpeaker, ANodeThatStillRunsWhatAllHaveStoppedSaysSo) {
  JobSpec spec = QuickSpec(3, 4);
  spec.last_call = Duration::zero();
  JobFixture job(spec);
  job.StartAll({"a", "b", "c"});
  job.Join("d");
  job.Wait(seconds(5));
  ASSERT_EQ(job.told("b").stop.cause, StopCause::kAsked);
  for (const char* name : {"b", "c"}) {
    job.agent(name).silent = true;
    job.BreakStream(name);
  }
  job.Idle("a");
  job.Wait(seconds(1));
  ASSERT_EQ(job.phase(), JobPhase::kGathering);
  ASSERT_EQ(job.round(), 1);
  job.Reconnect("b");
  EXPECT_THAT(Say(job, DirectiveKind::kStop, {"b"}), ElementsAre("b"));
  EXPECT_EQ(job.told("b").reason, "the job went on without this node");
  // No peer waits together with b any more.
  EXPECT_EQ(job.told("b").stop.cause, StopCause::kBroken);
}

// Signal and cause of the current round's stop do not apply to an earlier
// round.
TEST(JobSpeaker, AStopOfAnEarlierRoundIsAsAnyOther) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.agent("b").silent = true;
  job.BreakStream("b");
  job.Wait(seconds(1));
  job.AllStop();
  job.Runs("a");
  job.agent("a").report.cancel = CancelWish{.signal = 2};
  job.Report("a");
  ASSERT_EQ(job.told("a").stop.cause, StopCause::kCancelled);
  job.Reconnect("b");
  ASSERT_EQ(job.kind("b"), DirectiveKind::kStop);
  EXPECT_EQ(job.told("b").stop.round, 1);
  EXPECT_EQ(job.told("b").stop.signal, 15);
  EXPECT_EQ(job.told("b").stop.cause, StopCause::kBroken);
}

TEST(JobSpeaker, OfACoordinatorsNewStartOneSpeaks) {
  JobFixture job(QuickSpec(2, 2));
  for (const char* name : {"b", "a"}) {
    Report& report = job.Create(name).report;
    report.round = 5;
    report.phase = NodePhase::kRunning;
    job.Join(name);
  }
  EXPECT_THAT(job.told("a").reason, HasSubstr("started again"));
  EXPECT_THAT(Say(job, DirectiveKind::kStop, {"a", "b"}), ElementsAre("b"));
}

TEST(JobSpeaker, WhoeverClaimsAPlaceSaysThatItWaitsForIt) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  job.Create("x").report.node.node_id = "a";
  job.Join("x");
  EXPECT_THAT(job.told("x").reason, HasSubstr("is held by"));
  EXPECT_TRUE(job.told("x").said_here);
}

}  // namespace
}  // namespace muster::rendezvous
