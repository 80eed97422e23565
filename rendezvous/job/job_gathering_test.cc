// Tests of the gathering phase: how long a job waits for nodes, and the reasons
// shown to waiting nodes. Also tests of ranks and the master over several
// rounds, of scaling up when nodes wait, and of unhealthy nodes, which are kept
// out until they are healthy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "rendezvous/job/job_fixture.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(JobGathering, StartsAtOnceWithTheMost) {
  JobFixture job(QuickSpec(1, 2));
  job.Join("b");
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  EXPECT_EQ(job.kind("b"), DirectiveKind::kWait);
  EXPECT_EQ(job.told("b").reason,
            "1 of up to 2 nodes here, last call for more");
  job.Join("a");
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_THAT(job.World(), ElementsAre("a", "b"));
  EXPECT_THAT(
      job.Decided("assign"),
      HasSubstr("round 1 begins: 2 nodes, 4 workers, master 10.0.0.2:"));
}

TEST(JobGathering, PlacesAreDenseAndOfOneWorld) {
  JobFixture job(QuickSpec(3, 3));
  job.Create("b").report.node.slots = 3;
  for (const char* name : {"c", "b", "a"}) job.Join(name);
  const char* names[] = {"a", "b", "c"};
  const int first_ranks[] = {0, 2, 5};
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(job.kind(names[i]), DirectiveKind::kRun);
    const Place& place = job.told(names[i]).place;
    EXPECT_EQ(place.round, 1);
    EXPECT_EQ(place.group_rank, i);
    EXPECT_EQ(place.group_world_size, 3);
    EXPECT_EQ(place.first_rank, first_ranks[i]);
    EXPECT_EQ(place.world_size, 7);
    EXPECT_EQ(place.restart_count, 0);
    EXPECT_EQ(place.master_address, job.agent("a").report.node.address);
    EXPECT_EQ(place.master_port, job.agent("a").report.offered_master_port);
  }
}

TEST(JobGathering, RankZeroIsToldTheAddressesOfTheRoundsNodes) {
  JobSpec spec = QuickSpec(2, 2);
  spec.max_restarts = 1;
  JobFixture job(spec);
  job.Create("a").report.addresses = {"fd00::1"};
  job.Create("b").report.addresses = {"10.0.0.2", "10.1.0.2"};
  job.Create("c");
  job.Join("a");
  job.Join("b");
  job.Join("c");
  EXPECT_THAT(job.told("a").place.store_clients,
              ElementsAre("10.0.0.1", "10.0.0.2", "fd00::1", "10.1.0.2"));
  EXPECT_THAT(job.told("b").place.store_clients, ElementsAre());
}

TEST(JobGathering, NobodyIsToldAddressesIfAWorkerServesTheStore) {
  JobSpec spec = QuickSpec(1, 1);
  spec.store_host = StoreHost::kWorker;
  JobFixture job(spec);
  job.Join("a");
  EXPECT_THAT(job.told("a").place.store_clients, ElementsAre());
}

TEST(JobGathering, TheLastCallIsHeldFromWhenThereAreEnough) {
  JobFixture job(QuickSpec(2, 4));
  job.Join("a");
  job.Wait(seconds(30));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  EXPECT_EQ(job.told("a").reason, "1 of 2 nodes here, waiting for 1 more");
  job.Join("b");
  job.Wait(milliseconds(3900));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  EXPECT_THAT(job.told("b").reason, HasSubstr("last call"));
  job.Wait(milliseconds(100));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_EQ(job.status().world_size, 4);
}

TEST(JobGathering, TheLastCallStartsAnewWhereTooFewAreLeft) {
  JobFixture job(QuickSpec(2, 4));
  job.Join("a");
  job.Join("b");
  job.Wait(seconds(3));
  job.BreakStream("b");
  job.Wait(seconds(3));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Join("c");
  job.Wait(milliseconds(3900));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Wait(milliseconds(100));
  EXPECT_THAT(job.World(), ElementsAre("a", "c"));
}

TEST(JobGathering, AJobOfAFixedSizeHasNoLastCall) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  job.Join("b");
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

TEST(JobGathering, TimesOutAndNamesTheAbsentNodeRanks) {
  JobFixture job(QuickSpec(4, 4));
  job.Create("a").report.node.node_rank = 0;
  job.Create("c").report.node.node_rank = 2;
  job.Join("a");
  job.Join("c");
  job.Wait(milliseconds(59'900));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Wait(milliseconds(100));
  ASSERT_EQ(job.kind("a"), DirectiveKind::kFinished);
  const Verdict& verdict = job.told("a").verdict;
  EXPECT_EQ(verdict.outcome, Outcome::kTimedOut);
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_EQ(verdict.reason,
            "only 2 of at least 4 nodes came within 60 s; absent: node rank "
            "1, node rank 3");
  EXPECT_EQ(verdict.rounds, 0);
  EXPECT_EQ(verdict.lasted, seconds(60));
}

TEST(JobGathering, NamesAbsentIndices) {
  JobFixture job(QuickSpec(4, 4));
  job.Create("a").report.node.index = 0;
  job.Create("c").report.node.index = 2;
  job.Join("a");
  job.Join("c");
  EXPECT_EQ(job.told("c").reason, "2 of 4 nodes here, waiting for 2 more");
  EXPECT_EQ(job.status().reason,
            "2 of 4 nodes here, waiting for 2 more; absent: index 1, index 3");
  job.Wait(seconds(60));
  EXPECT_EQ(job.told("a").verdict.reason,
            "only 2 of at least 4 nodes came within 60 s; absent: index 1, "
            "index 3");
}

TEST(JobGathering, ANodeWithoutANumberMeansNoNamesOfAbsentNodes) {
  JobFixture job(QuickSpec(3, 3));
  job.Create("a").report.node.index = 0;
  job.Join("a");
  job.Join("b");
  job.Wait(seconds(60));
  EXPECT_EQ(job.told("a").verdict.reason,
            "only 2 of at least 3 nodes came within 60 s");
}

TEST(JobGathering, AnElasticJobNamesNoAbsentIndices) {
  JobFixture job(QuickSpec(2, 4));
  job.Create("c").report.node.index = 2;
  job.Join("c");
  job.Wait(seconds(60));
  EXPECT_EQ(job.told("c").verdict.reason,
            "only 1 of at least 2 nodes came within 60 s");
}

TEST(JobGathering, NamesAFewOfManyAbsent) {
  JobFixture job(QuickSpec(100, 100));
  job.Create("a").report.node.node_rank = 0;
  job.Join("a");
  job.Wait(seconds(60));
  EXPECT_THAT(job.told("a").verdict.reason,
              AllOf(HasSubstr("node rank 8, …"), Not(HasSubstr("rank 9"))));
}

TEST(JobGathering, TimesOutAndNamesTheLostNodes) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.BreakStream("b");
  job.Wait(milliseconds(500));
  job.Idle("a");
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Wait(seconds(60));
  ASSERT_EQ(job.kind("a"), DirectiveKind::kFinished);
  const Verdict& verdict = job.told("a").verdict;
  EXPECT_EQ(verdict.outcome, Outcome::kTimedOut);
  EXPECT_THAT(verdict.reason,
              HasSubstr("absent: b (lost: its connection broke and it did not "
                        "come back within 0.5 s)"));
  ASSERT_TRUE(verdict.cause.has_value());
  EXPECT_EQ(verdict.cause->kind, FailureKind::kNodeLost);
  EXPECT_EQ(verdict.cause->node_id, "b");
  EXPECT_EQ(verdict.cause->group_rank, 1);
}

JobSpec SpecWithoutReplacements() {
  JobSpec spec = QuickSpec(2, 2);
  spec.rejoin_timeout = seconds(20);
  return spec;
}

TEST(JobGathering, WithoutReplacementsTheJobEndsAfterTheRejoinTimeout) {
  JobFixture job(SpecWithoutReplacements());
  // The rejoin time-out does not apply before the first round, because nodes
  // may start late.
  job.Join("a");
  job.Wait(seconds(50));
  job.StartAll({"a", "b"});
  job.BreakStream("b");
  job.Wait(milliseconds(500));
  job.Wait(seconds(5));
  job.Idle("a");
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Wait(milliseconds(19'999));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Wait(milliseconds(1));
  ASSERT_EQ(job.kind("a"), DirectiveKind::kFinished);
  const Verdict& verdict = job.told("a").verdict;
  EXPECT_EQ(verdict.outcome, Outcome::kTimedOut);
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_EQ(verdict.reason,
            "only 1 of at least 2 nodes is left, and no other came within 20 "
            "s; absent: b (lost: its connection broke and it did not come back "
            "within 0.5 s)");
  ASSERT_TRUE(verdict.cause.has_value());
  EXPECT_EQ(verdict.cause->kind, FailureKind::kNodeLost);
  EXPECT_EQ(verdict.cause->node_id, "b");
}

TEST(JobGathering, AnUnhealthyNodePreventsTheRejoinTimeout) {
  JobFixture job(SpecWithoutReplacements());
  job.StartAll({"a", "b"});
  job.BreakStream("b");
  job.Wait(milliseconds(500));
  job.Idle("a");
  job.Wait(seconds(19));
  job.agent("b").report.phase = NodePhase::kIdle;
  job.agent("b").report.health = Health::kUnhealthy;
  job.agent("b").report.unhealthy = "no GPU";
  job.Reconnect("b");
  job.Wait(seconds(30));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  // The unhealthy node b has counted as present so far. Its stream breaks now
  // and b does not return, so the rejoin time-out (20 s) begins only now.
  job.BreakStream("b");
  job.Wait(milliseconds(500));
  job.Wait(milliseconds(4'000));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
}

TEST(JobGathering, GoesAheadAtTheJoinTimeoutWithEnough) {
  JobSpec spec = QuickSpec(1, 2);
  spec.last_call = seconds(600);
  JobFixture job(spec);
  job.Join("a");
  job.Wait(milliseconds(59'999));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Wait(milliseconds(1));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

TEST(JobGathering, NodesBeyondTheMostAreSpares) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b", "c"});
  EXPECT_EQ(job.kind("c"), DirectiveKind::kWait);
  EXPECT_EQ(job.told("c").reason,
            "spare: round 1 runs with all of its 2 nodes");
  EXPECT_THAT(job.World(), ElementsAre("a", "b"));
  job.Wait(seconds(100));
  EXPECT_EQ(job.round(), 1);
}

TEST(JobGathering, TheWaitingAreKeptUpToDate) {
  JobFixture job(QuickSpec(3, 3));
  job.Join("a");
  EXPECT_EQ(job.told("a").reason, "1 of 3 nodes here, waiting for 2 more");
  job.Join("b");
  // Node b has joined, but the coordinator has sent nothing to the waiting node
  // a. So the reason in a's newest directive still has the old count.
  EXPECT_EQ(job.told("a").reason, "1 of 3 nodes here, waiting for 2 more");
  // The coordinator's answer to node a's next report contains the new number of
  // nodes.
  job.Report("a");
  EXPECT_EQ(job.told("a").reason, "2 of 3 nodes here, waiting for 1 more");
  const int told = job.agent("a").times_told;
  job.Report("a");
  EXPECT_EQ(job.agent("a").times_told, told);
}

TEST(JobGathering, ANodeThatStillStopsIsNotReady) {
  JobFixture job(QuickSpec(2, 2));
  Report& old = job.Create("a").report;
  old.phase = NodePhase::kStopping;
  old.round = 3;
  job.Join("a");
  job.Join("b");
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Idle("a");
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

TEST(JobGathering, AMemberThatNeverStartsIsLostAtTheJoinTimeout) {
  JobFixture job(QuickSpec(1, 2));
  job.Join("a");
  job.Join("b");
  job.Runs("a");
  job.Wait(milliseconds(59'900));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  job.Wait(milliseconds(100));
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  EXPECT_THAT(job.Decided("break"),
              HasSubstr("b (group rank 1) was lost: it did not start its "
                        "workers within 60 s"));
}

TEST(JobGathering, NodeRanksAreHonouredAndANoteSaysWhereNot) {
  JobFixture job(QuickSpec(1, 4));
  job.Create("a").report.node.node_rank = 3;
  job.Create("b").report.node.node_rank = 0;
  job.Join("a");
  job.Join("b");
  job.Wait(seconds(4));
  EXPECT_THAT(job.World(), ElementsAre("b", "a"));
  EXPECT_THAT(job.Decided("rank"), HasSubstr("node rank 3 of a became"));
}

TEST(JobGathering, EveryPlaceOfARunHasItsTag) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  EXPECT_EQ(job.told("a").place.run_tag, "own-tag");
  EXPECT_EQ(job.told("b").place.run_tag, "own-tag");
  job.Fails("a", ExitedWith(0, 1));
  job.Idle("a");
  job.Idle("b");
  ASSERT_EQ(job.told("b").place.round, 2);
  EXPECT_EQ(job.told("b").place.run_tag, "own-tag");
}

TEST(JobGathering, ACoordinatorStartedAnewGoesOnWithTheTagOfTheNewestRound) {
  JobFixture job(QuickSpec(4, 4));
  for (const auto& [name, round] :
       {std::pair("a", 0), {"b", 4}, {"c", 6}, {"d", 5}}) {
    Report& report = job.Create(name).report;
    report.round = round;
    if (round == 0) continue;
    report.place = {.round = round, .group_world_size = 4, .world_size = 8};
    report.place->run_tag = absl::StrCat("of-round-", round);
  }
  for (const char* name : {"a", "b", "c", "d"}) job.Join(name);
  job.Wait(seconds(5));
  EXPECT_EQ(job.told("a").place.run_tag, "of-round-6");
  EXPECT_EQ(job.told("b").place.run_tag, "of-round-6");
}

TEST(JobGathering, AnOlderAgentHasNoTagToGoOnWith) {
  JobFixture job(QuickSpec(1, 1));
  Report& report = job.Create("a").report;
  report.round = 3;
  report.place = {.round = 3, .group_world_size = 1, .world_size = 2};
  job.Join("a");
  EXPECT_EQ(job.told("a").place.run_tag, "own-tag");
}

TEST(JobGathering, ANodeOfAnotherRunDoesNotChangeTheTagOfOneThatHasBegun) {
  JobFixture job(QuickSpec(1, 2));
  job.Join("a");
  job.Wait(seconds(4));
  job.Runs("a");
  Report& report = job.Create("b").report;
  report.round = 9;
  report.place = {.round = 9, .group_world_size = 1, .world_size = 2};
  report.place->run_tag = "another";
  job.Join("b");
  job.Wait(seconds(5));
  job.Idle("a");
  ASSERT_EQ(job.told("a").place.round, 10);
  EXPECT_EQ(job.told("a").place.run_tag, "own-tag");
  EXPECT_EQ(job.told("b").place.run_tag, "own-tag");
}

// Makes the node `name` lost, and stops the other members.
void LoseForGood(JobFixture& job, const std::string& name) {
  job.BreakStream(name);
  job.Wait(milliseconds(500));
  job.AllStop();
}

TEST(JobStickyRanks, AReplacementTakesTheHole) {
  JobFixture job(QuickSpec(3, 3));
  job.StartAll({"b", "c", "d"});
  // Node a joins a running job, so it becomes a spare. Later it takes the rank
  // of the lost node c, although the name "a" sorts before the names of all
  // other nodes.
  job.Join("a");
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

// A node offers an NCCL id in its first report. An earlier coordinator may have
// used this id for a round that the node never began, so this coordinator must
// not use it.
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

TEST(JobStickyRanks, AnNcclIdThatARecordedNodeBringsAlongIsNotUsed) {
  JobFixture job(QuickSpec(2, 3));
  job.Create("a").report.offered_nccl_id = "id-a1";
  job.Join("a");
  job.Join("b");
  job.Wait(seconds(4));  // until the last call for more nodes is over
  ASSERT_EQ(job.round(), 1);
  // Only b reports that it has started round 1. So the next coordinator cannot
  // know whether node a has used its NCCL id for this round.
  job.Runs("b");
  job.Lose("a");
  job.Reconnect("a");
  job.AllStop();
  ASSERT_EQ(job.phase(), JobPhase::kGathering) << "the record has both nodes";
  job.ReplaceCoordinator();
  job.ReconnectAll({"a", "b"});
  job.Wait(seconds(5));
  ASSERT_EQ(job.round(), 2);
  EXPECT_EQ(job.told("b").place.nccl_id, "");
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

TEST(JobScaling, NotIfAMemberHasSucceeded) {
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

TEST(JobScaling, GrowsFromOneNodeToThree) {
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

TEST(JobHealth, WaitReasonMentionsTheCheck) {
  JobFixture job(QuickSpec(2, 2));
  job.Create("a").report.health = Health::kUnchecked;
  job.Join("a");
  EXPECT_EQ(job.told("a").reason,
            "this node is being checked (0 of 2 nodes here, waiting for 2 "
            "more)");
  Found(job, "a", Health::kHealthy);
  EXPECT_EQ(job.told("a").reason, "1 of 2 nodes here, waiting for 1 more");
}

TEST(JobHealth, ANodeUnderCheckCountsAsPresent) {
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

TEST(JobHealth, OnlySomeOfManyUnhealthyNodesAreNamed) {
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

// A node that runs workers continues to run them even if it reports bad health.
TEST(JobHealth, IsLookedAtBetweenRoundsOnly) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  Found(job, "b", Health::kUnhealthy, "no disk");
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

// The health checks of the nodes last up to 5 s. If the job did not wait for
// them, each restart would lose the nodes whose checks end last.
TEST(JobHealth, WaitsForANodeUnderCheck) {
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

TEST(JobHealth, DoesNotWaitForAnUnhealthyNode) {
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
