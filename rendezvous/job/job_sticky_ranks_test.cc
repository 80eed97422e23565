// Ranks and the master over several rounds.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/job/job_fixture.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;

// Breaks the stream of `name`, which does not return, and stops the other
// members.
void LoseForGood(JobFixture& job, const std::string& name) {
  job.BreakStream(name);
  job.Wait(milliseconds(500));
  job.AllStop();
}

TEST(JobStickyRanks, AReplacementTakesTheHole) {
  JobFixture job(QuickSpec(3, 3));
  job.StartAll({"b", "c", "d"});
  job.Join("a");  // a spare that sorts first by name
  LoseForGood(job, "c");
  EXPECT_EQ(job.round(), 2);
  EXPECT_THAT(job.World(), ElementsAre("b", "a", "d"));
}

TEST(JobStickyRanks, TheMasterFollowsRankZero) {
  JobFixture job(QuickSpec(2, 3));
  job.StartAll({"a", "b", "c"});
  EXPECT_EQ(job.told("b").place.master_address, "10.0.0.1");
  LoseForGood(job, "a");
  EXPECT_THAT(job.World(), ElementsAre("c", "b"));
  for (const char* name : {"b", "c"}) {
    EXPECT_EQ(job.told(name).place.master_address, "10.0.0.3");
    EXPECT_EQ(job.told(name).place.master_port,
              job.agent("c").report.offered_master_port);
  }
  EXPECT_EQ(job.status().master_address, "10.0.0.3");
}

TEST(JobStickyRanks, TheMasterPortIsTheOneOfferedLast) {
  JobSpec spec = QuickSpec(2, 2);
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  job.agent("a").report.offered_master_port = 31000;
  job.Fails("b", ExitedWith(2, 1));
  job.AllStop();
  EXPECT_EQ(job.told("b").place.master_port, 31000);
}

TEST(JobStickyRanks, TheNcclIdIsRankZerosAndServesOneWorld) {
  JobSpec spec = QuickSpec(2, 2);
  spec.max_restarts = 2;
  JobFixture job(spec);
  job.Create("a").report.offered_nccl_id = "id-a1";
  job.Create("b").report.offered_nccl_id = "id-b1";
  job.StartAll({"a", "b"});
  EXPECT_EQ(job.told("a").place.nccl_id, "id-a1");
  EXPECT_EQ(job.told("b").place.nccl_id, "id-a1");
  job.Fails("b", ExitedWith(2, 1));
  job.AllStop();
  EXPECT_EQ(job.round(), 2);
  EXPECT_EQ(job.told("b").place.nccl_id, "") << "it would be used twice";
  job.Runs("a");
  job.Runs("b");
  job.agent("a").report.offered_nccl_id = "id-a2";
  job.Fails("b", ExitedWith(2, 1));
  job.AllStop();
  EXPECT_EQ(job.told("b").place.nccl_id, "id-a2");
}

// An earlier coordinator may have given the id to a round that the node never
// heard of.
TEST(JobStickyRanks, AnNcclIdThatANodeBringsAlongIsNotUsed) {
  JobFixture job(QuickSpec(2, 2));
  job.Create("a").report.offered_nccl_id = "id-a1";
  job.agent("a").report.sequence = 7;
  job.StartAll({"a", "b"});
  EXPECT_EQ(job.told("b").place.nccl_id, "");
  job.agent("a").report.offered_nccl_id = "id-a2";
  job.Fails("b", ExitedWith(2, 1));
  job.AllStop();
  EXPECT_EQ(job.told("b").place.nccl_id, "id-a2");
}

TEST(JobStickyRanks, ARestartedAgentGetsItsRankBack) {
  JobFixture job(QuickSpec(3, 3));
  job.StartAll({"a", "b", "c"});
  LoseForGood(job, "a");
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Restart("a");
  EXPECT_THAT(job.World(), ElementsAre("a", "b", "c"));
}

TEST(JobStickyRanks, SurvivorsAreKeptBeforeNewComers) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"x", "y"});
  job.Join("a");
  job.Join("b");
  job.Fails("x", ExitedWith(0, 1));
  job.AllStop();
  job.Idle("x");
  EXPECT_EQ(job.round(), 2);
  EXPECT_THAT(job.World(), ElementsAre("x", "y"));
}

}  // namespace
}  // namespace muster::rendezvous
