// Tests of a job that continues under a new coordinator without a record of the
// job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "rendezvous/job/job_fixture.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A job in which nodes have joined in the order of `names`, and have started
// their workers if they got a kRun directive. Then a new coordinator without a
// record of the job has replaced the old one. No node is connected to the new
// coordinator yet.
class JobWithoutRecord : public JobFixture {
 public:
  JobWithoutRecord(const JobSpec& spec, const std::vector<std::string>& names)
      : JobFixture(spec) {
    StartAll(names);
    ReplaceCoordinatorAndRecord();
  }
  // Makes the next reports of `names` say that the nodes ran round 2.
  void RanRound2(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      agent(name).report.round = 2;
      agent(name).report.place->round = 2;
    }
  }
};

TEST(JobAdoptionTest, ARoundGoesOnOnceAMajorityOfItsNodesHasCome) {
  JobFixture job(QuickSpec(3, 3));
  job.StartAll({"a", "b", "c"});
  const Place before = job.told("c").place;
  job.ReplaceCoordinatorAndRecord(seconds(2));
  job.Reconnect("c");
  EXPECT_EQ(job.kind("c"), DirectiveKind::kHold);
  EXPECT_THAT(job.told("c").reason, HasSubstr("1 of 3"));
  job.Reconnect("a");
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_THAT(job.Decided("adopt"), HasSubstr("2 of its 3 nodes"));
  EXPECT_EQ(job.told("c").kind, DirectiveKind::kRun);
  EXPECT_EQ(job.told("c").epoch, 8u);
  EXPECT_EQ(job.told("c").place.round, before.round);
  EXPECT_EQ(job.told("c").place.group_rank, before.group_rank);
  EXPECT_EQ(job.told("c").place.first_rank, before.first_rank);
  EXPECT_EQ(job.told("c").place.role_world_size, before.role_world_size);
  EXPECT_EQ(job.told("c").place.master_port, before.master_port);
  EXPECT_EQ(job.told("c").place.run_tag, "own-tag");
  job.Reconnect("b");
  EXPECT_THAT(job.World(), ElementsAre("a", "b", "c"));
  job.Wait(seconds(120));
  EXPECT_EQ(job.Count("break"), 0);
  for (const char* name : {"a", "b", "c"}) job.Succeeds(name);
  EXPECT_EQ(job.status().verdict->outcome, Outcome::kSucceeded);
  EXPECT_EQ(job.status().verdict->rounds, 1);
}

TEST(JobAdoptionTest, TheNewestCoordinatorsRoundGoesOnWhateverItsNumber) {
  // Two coordinators began a round 1. The older one (epoch 6) began it on node
  // c alone. The newest one (epoch 7) began it on nodes a and b, which still
  // run it. So the round of a and b is adopted.
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Create("c").report.round = 1;
  job.agent("c").report.place = job.told("a").place;
  job.agent("c").report.place->group_world_size = 1;
  job.agent("c").report.place->epoch = 6;
  job.ReplaceCoordinatorAndRecord();
  job.Reconnect("a");
  job.Reconnect("c");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kHold);
  job.Reconnect("b");
  EXPECT_THAT(job.Decided("adopt"), HasSubstr("2 of its 2 nodes"));
  EXPECT_EQ(job.kind("a"), DirectiveKind::kRun);
}

TEST(JobAdoptionTest, AMinorityIsStoppedAfterALease) {
  JobWithoutRecord job(QuickSpec(1, 2), {"a", "b"});
  job.Reconnect("a");
  job.Wait(milliseconds(4900));
  EXPECT_EQ(job.kind("a"), DirectiveKind::kHold);
  job.Wait(milliseconds(200));
  EXPECT_EQ(job.kind("a"), DirectiveKind::kStop);
  EXPECT_THAT(job.Decided("adopt"), HasSubstr("only 1 of its 2 nodes"));
  job.Idle("a");
  job.Wait(seconds(4));
  EXPECT_EQ(job.round(), 2);
}

TEST(JobAdoptionTest, AMinorityIsStoppedAtOnceIfTheOthersWereStartedAnew) {
  JobWithoutRecord job(QuickSpec(2, 2), {"a", "b"});
  job.Restart("a");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kWait);
  job.Reconnect("b");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kStop);
  EXPECT_THAT(job.Decided("adopt"),
              HasSubstr("only 1 of its 2 nodes are among the 2 nodes here"));
  job.Idle("b");
  EXPECT_EQ(job.round(), 2);
  EXPECT_EQ(job.status().restarts_used, 0);
  EXPECT_THAT(job.World(), ElementsAre("a", "b"));
}

TEST(JobAdoptionTest, AMinorityWaitsForTheOthersAlthoughASpareIsHere) {
  JobWithoutRecord job(QuickSpec(2, 2), {"a", "b", "spare"});
  job.Reconnect("a");
  job.Reconnect("spare");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kHold);
  job.Reconnect("b");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kRun);
}

TEST(JobAdoptionTest, AJobIsAsOldAsItsNodesKnow) {
  JobWithoutRecord job(QuickSpec(2, 2), {"a", "b"});
  job.Wait(seconds(1));
  job.agent("a").report.job_age = seconds(100);
  job.agent("b").report.job_age = seconds(60);
  job.Reconnect("a");
  EXPECT_EQ(job.told("a").job_age, Duration::zero());
  job.Reconnect("b");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kRun);
  EXPECT_EQ(job.told("a").job_age, seconds(100));
  job.Wait(seconds(10));
  EXPECT_EQ(job.status().age, seconds(110));
  // This coordinator has adopted round 1. A node that joins after that does not
  // change the job's age.
  job.Create("c").report.job_age = seconds(500);
  job.Join("c");
  EXPECT_EQ(job.status().age, seconds(110));
  for (const char* name : {"a", "b"}) job.Succeeds(name);
  EXPECT_EQ(job.status().verdict->lasted, seconds(110));
}

TEST(JobAdoptionTest, ANodeThatStaysAwayFromAnAdoptedRoundBreaksIt) {
  JobFixture job(QuickSpec(2, 3));
  job.Join("a");
  job.Join("b");
  job.StartAll({"c"});
  job.Runs("a");
  job.Runs("b");
  job.ReplaceCoordinatorAndRecord();
  job.ReconnectAll({"a", "b"});
  EXPECT_GT(job.WaitFor("break", milliseconds(5100)), milliseconds(4900));
  EXPECT_THAT(job.Decided("break"), HasSubstr("1 node of 3 did not come"));
  job.AllStop();
  EXPECT_EQ(job.round(), 2);
  EXPECT_EQ(job.status().restarts_used, 0);
  EXPECT_THAT(job.World(), ElementsAre("a", "b"));
}

TEST(JobAdoptionTest, AStandstillOfTheNewCoordinatorShortensNoLease) {
  JobWithoutRecord job(QuickSpec(3, 3), {"a", "b", "c"});
  job.Reconnect("a");
  job.StandStill(seconds(6));
  job.Reconnect("b");
  job.Wait(seconds(4));
  job.Reconnect("c");
  EXPECT_THAT(job.World(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(job.Count("break"), 0);
}

TEST(JobAdoptionTest, AFailureInTheCoordinatorsAbsenceIsCountedOnce) {
  JobWithoutRecord job(QuickSpec(2, 2), {"a", "b"});
  job.FailsUnreported("a", ExitedWith(0, 3), NodePhase::kStopping);
  job.ReconnectAll({"a", "b"});
  EXPECT_EQ(job.kind("b"), DirectiveKind::kStop);
  EXPECT_EQ(job.status().restarts_used, 1);
  EXPECT_THAT(job.told("b").reason, HasSubstr("exit code 3"));
  job.ReplaceCoordinatorAndRecord();
  job.ReconnectAll({"b", "a"});
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  EXPECT_EQ(job.status().restarts_used, 1);
  EXPECT_THAT(job.told("b").reason, HasSubstr("exit code 3"));
  job.Idle("a");
  job.Idle("b");
  EXPECT_EQ(job.round(), 2);
  EXPECT_EQ(job.told("b").place.restart_count, 1);
  EXPECT_EQ(job.job().Record().failures_in_row, 1);
}

TEST(JobAdoptionTest, AFailureOfANodeThatStoppedBeforeItCameIsCounted) {
  JobWithoutRecord job(QuickSpec(2, 2), {"a", "b"});
  for (const char* name : {"a", "b"}) {
    job.FailsUnreported(name, ExitedWith(0, 3), NodePhase::kIdle);
  }
  job.ReconnectAll({"a", "b"});
  EXPECT_EQ(job.round(), 2);
  EXPECT_EQ(job.status().restarts_used, 1);
}

TEST(JobAdoptionTest, ARoundThatEndedIsNotCountedAgain) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Fails("a", ExitedWith(0, 3));
  job.Idle("a");
  job.agent("b").report.phase = NodePhase::kIdle;
  job.ReplaceCoordinatorAndRecord();
  job.ReconnectAll({"a", "b"});
  EXPECT_EQ(job.round(), 2);
  EXPECT_EQ(job.Count("break"), 1);
  EXPECT_EQ(job.status().restarts_used, 1);
  EXPECT_THAT(job.World(), ElementsAre("a", "b"));
}

TEST(JobAdoptionTest, TheBudgetIsNotForgotten) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Fails("a", ExitedWith(0, 3));
  job.AllStop();
  job.Runs("a");
  job.Runs("b");
  job.ReplaceCoordinatorAndRecord();
  job.ReconnectAll({"a", "b"});
  EXPECT_EQ(job.status().restarts_used, 1);
  job.Fails("b", ExitedWith(1, 4));
  job.ReplaceCoordinatorAndRecord();
  job.ReconnectAll({"b", "a"});
  job.AllStop();
  ASSERT_TRUE(job.status().verdict.has_value());
  EXPECT_EQ(job.status().verdict->outcome, Outcome::kFailed);
  EXPECT_EQ(job.status().verdict->exit_code, 4);
  EXPECT_EQ(job.status().verdict->restarts_used, 1);
}

TEST(JobAdoptionTest, TheBudgetIsNotForgottenWithoutAMajority) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.Fails("a", ExitedWith(0, 3));
  job.ReplaceCoordinatorAndRecord();
  job.Reconnect("b");
  job.Wait(seconds(6));
  EXPECT_EQ(job.status().restarts_used, 1);
}

TEST(JobAdoptionTest, NodesWithoutARoundKnowTheBudget) {
  JobSpec spec = QuickSpec(2, 2);
  spec.max_restarts = 9;
  JobFixture job(spec);
  job.Create("a").report.restarts_used = 2;
  job.Join("a");
  job.Create("b").report.restarts_used = 1;
  job.Join("b");
  EXPECT_EQ(job.round(), 1);
  EXPECT_EQ(job.told("a").place.restart_count, 2);
  // The job has begun under this coordinator, so a node that joins later does
  // not change the restart budget.
  job.Create("c").report.restarts_used = 3;
  job.Join("c");
  EXPECT_EQ(job.status().restarts_used, 2);
}

TEST(JobAdoptionTest, AVerdictThatNodesWereToldIsNotForgotten) {
  JobSpec spec = QuickSpec(2, 3);
  spec.max_restarts = 0;
  JobFixture job(spec);
  job.StartAll({"a", "b", "c"});
  job.Fails("c", ExitedWith(4, 7));
  for (const char* name : {"a", "b"}) {
    ASSERT_EQ(job.told(name).stop.exit_code, 7);
    job.agent(name).report.phase = NodePhase::kIdle;
  }
  job.ReplaceCoordinatorAndRecord();
  job.ReconnectAll({"a", "b"});
  ASSERT_TRUE(job.status().verdict.has_value());
  EXPECT_EQ(job.status().verdict->outcome, Outcome::kFailed);
  EXPECT_EQ(job.status().verdict->exit_code, 7);
  EXPECT_THAT(job.status().verdict->reason, HasSubstr("rank 4 on c"));
}

TEST(JobAdoptionTest, ACountOfAnOlderRoundIsNotTakenForANewerOne) {
  JobFixture job(QuickSpec(2, 3));
  job.StartAll({"a", "b", "c"});
  job.agent("c").report.restarts_used = 1;
  job.agent("c").report.phase = NodePhase::kIdle;
  job.ReplaceCoordinatorAndRecord();
  for (const char* name : {"a", "b"}) {
    job.agent(name).report.round = 2;
    job.agent(name).report.place->round = 2;
    job.agent(name).report.place->group_world_size = 2;
  }
  job.ReconnectAll({"c", "a", "b"});
  EXPECT_EQ(job.round(), 2);
  EXPECT_EQ(job.status().restarts_used, 0);
}

TEST(JobAdoptionTest, ACancelIsNotForgotten) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Step(CancelAsked{"the operator"});
  ASSERT_EQ(job.kind("a"), DirectiveKind::kStop);
  job.ReplaceCoordinatorAndRecord();
  job.agent("a").report.phase = NodePhase::kStopping;
  job.Reconnect("a");
  job.agent("b").report.phase = NodePhase::kIdle;
  job.Reconnect("b");
  job.Idle("a");
  ASSERT_TRUE(job.status().verdict.has_value());
  EXPECT_EQ(job.status().verdict->outcome, Outcome::kCancelled);
  EXPECT_EQ(job.status().verdict->exit_code, 128 + SIGTERM);
  EXPECT_THAT(job.status().verdict->reason, HasSubstr("the operator"));
}

TEST(JobAdoptionTest, ASignalAfterTheAdoptionReachesTheWorkers) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.agent("b").report.signals = {{.ordinal = 1, .signal = SIGUSR1}};
  job.Report("b");
  ASSERT_EQ(job.told("a").signals.size(), 1u);
  for (const char* name : {"a", "b"}) {
    job.agent(name).report.forwarded_signal = job.told(name).signals[0].ordinal;
  }
  job.ReplaceCoordinatorAndRecord();
  job.ReconnectAll({"a", "b"});
  job.agent("b").report.signals.push_back({.ordinal = 2, .signal = SIGUSR2});
  job.Report("b");
  ASSERT_EQ(job.told("a").signals.size(), 1u);
  EXPECT_EQ(job.told("a").signals[0].signal, SIGUSR2);
  EXPECT_EQ(job.told("a").signals[0].ordinal, 2u);
}

TEST(JobAdoptionTest, APlaceOfAnotherWorldIsNotAdopted) {
  JobWithoutRecord job(QuickSpec(3, 3), {"a", "b", "c"});
  job.agent("a").report.place->master_port = 1;
  job.ReconnectAll({"a", "b"});
  EXPECT_EQ(job.kind("b"), DirectiveKind::kHold);
  job.Reconnect("c");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kRun);
  EXPECT_EQ(job.kind("a"), DirectiveKind::kStop);
}

TEST(JobAdoptionTest, TheNewestRoundIsTheOneThatIsAdopted) {
  JobWithoutRecord job(QuickSpec(2, 3), {"a", "b", "c"});
  job.RanRound2({"a", "b"});
  job.ReconnectAll({"c", "a"});
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Reconnect("b");
  EXPECT_EQ(job.round(), 2);
  EXPECT_EQ(job.kind("c"), DirectiveKind::kStop);
}

TEST(JobAdoptionTest, AMajorityOfAnOlderRoundIsNotAdopted) {
  JobWithoutRecord job(QuickSpec(2, 3), {"a", "b", "c"});
  job.RanRound2({"c"});
  job.ReconnectAll({"c", "a", "b"});
  EXPECT_EQ(job.kind("a"), DirectiveKind::kHold);
  job.Wait(milliseconds(5100));
  EXPECT_EQ(job.kind("a"), DirectiveKind::kStop);
  EXPECT_THAT(job.Decided("adopt"), HasSubstr("round 2 is given up"));
}

// Node c has been told that the job ends with round 1. This coordinator is a
// daemon, which was restarted. The job may have gone on without c, so the
// coordinator must not end the job: it gives round 1 up.
TEST(JobAdoptionTest, TheEndThatAMinorityKnowsIsNoEndAtADaemon) {
  JobWithoutRecord job(QuickSpec(2, 3), {"a", "b", "c"});
  job.agent("c").report.round_end = RoundEnd{.exit_code = 3, .reason = "c"};
  job.agent("c").report.phase = NodePhase::kIdle;
  job.Reconnect("c");
  job.Wait(milliseconds(5100));
  EXPECT_THAT(job.Decided("adopt"), HasSubstr("round 1 is given up"));
}

TEST(JobAdoptionTest, OnlyAMissingMemberJoinsAnAdoptedRound) {
  JobFixture job(QuickSpec(3, 4));
  job.Join("d");
  job.StartAll({"a", "b", "c"});
  job.Runs("d");
  job.ReplaceCoordinatorAndRecord();
  job.ReconnectAll({"a", "b", "c"});
  ASSERT_EQ(job.phase(), JobPhase::kRunning);
  const int rank = job.agent("d").report.place->group_rank;
  Report& other = job.Create("e").report;
  other = job.agent("a").report;
  other.node.node_id = other.node.host = "e";
  other.node.incarnation = 77;
  other.sequence = 0;
  job.Join("e");
  EXPECT_EQ(job.kind("e"), DirectiveKind::kStop);
  other.node.node_id = other.node.host = "f";
  other.place->group_rank = rank;
  other.place->master_port += 1;
  job.Create("f").report = other;
  job.Join("f");
  EXPECT_EQ(job.kind("f"), DirectiveKind::kStop);
  job.Reconnect("d");
  EXPECT_EQ(job.kind("d"), DirectiveKind::kRun);
  EXPECT_EQ(job.told("d").place.group_rank, rank);
}

TEST(JobAdoptionTest, AnAdoptionChangesTheRecord) {
  JobWithoutRecord job(QuickSpec(2, 2), {"a", "b"});
  job.ReconnectAll({"a", "b"});
  EXPECT_TRUE(job.last_step().record_changed);
}

TEST(JobAdoptionTest, ANewNodeWaitsWhileARoundIsCollected) {
  JobWithoutRecord job(QuickSpec(2, 3), {"a", "b", "c"});
  job.Reconnect("a");
  job.Join("d");
  EXPECT_EQ(job.kind("d"), DirectiveKind::kWait);
  EXPECT_THAT(job.told("d").reason, HasSubstr("round 1: 1 of 3"));
  job.ReconnectAll({"b", "c"});
  EXPECT_EQ(job.kind("d"), DirectiveKind::kWait);
  EXPECT_THAT(job.World(), ElementsAre("a", "b", "c"));
}

TEST(JobAdoptionTest, ANodeLostWhileItsRoundIsCollectedDoesNotCount) {
  JobWithoutRecord job(QuickSpec(3, 3), {"a", "b", "c"});
  job.Reconnect("a");
  job.BreakStream("a");
  job.Wait(milliseconds(600));
  job.Reconnect("b");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kHold);
}

TEST(JobAdoptionTest, ACancelWhileARoundIsCollectedEndsTheJob) {
  JobWithoutRecord job(QuickSpec(3, 3), {"a", "b", "c"});
  job.Reconnect("a");
  job.Step(CancelAsked{"the operator"});
  EXPECT_EQ(job.kind("a"), DirectiveKind::kFinished);
}

TEST(JobAdoptionTest, AnAdoptedRoundIsKeptInTheRecord) {
  JobWithoutRecord job(QuickSpec(3, 3), {"a", "b", "c"});
  job.ReconnectAll({"a", "b"});
  job.ReplaceCoordinator();
  job.ReconnectAll({"a", "b", "c"});
  EXPECT_EQ(job.Count("break"), 0);
  EXPECT_THAT(job.World(), ElementsAre("a", "b", "c"));
  job.ReplaceCoordinatorAndRecord();
  job.ReconnectAll({"a", "b"});
  job.ReplaceCoordinator();
  job.ReconnectAll({"a", "b"});
  job.Wait(seconds(6));
  EXPECT_THAT(job.Decided("break"), HasSubstr("1 node of 3 did not come"));
}

}  // namespace
}  // namespace muster::rendezvous
