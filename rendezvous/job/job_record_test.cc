// Tests of a job that continues under a new coordinator with the job's record.
#include "rendezvous/job/job_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>

#include "rendezvous/job/job_fixture.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(JobRecordTest, ARoundGoesOnUnderANewCoordinator) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.ReplaceCoordinator(seconds(3));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  const Place before = job.told("b").place;
  job.ReconnectAll({"b", "a"});
  EXPECT_EQ(job.told("b").kind, DirectiveKind::kRun);
  EXPECT_EQ(job.told("b").epoch, 8u);
  EXPECT_EQ(job.told("b").place.round, before.round);
  EXPECT_EQ(job.told("b").place.group_rank, before.group_rank);
  EXPECT_EQ(job.told("b").place.master_port, before.master_port);
  EXPECT_EQ(job.told("a").place.store_clients.size(), 2u);
  job.Wait(seconds(120));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_EQ(job.Count("break"), 0);
  job.Succeeds("a");
  job.Succeeds("b");
  EXPECT_EQ(job.status().verdict->outcome, Outcome::kSucceeded);
  EXPECT_GE(job.status().verdict->lasted, seconds(123));
}

TEST(JobRecordTest, AMemberThatDoesNotComeIsLostAfterItsLease) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.ReplaceCoordinator();
  job.Reconnect("a");
  EXPECT_GT(job.WaitFor("lost", milliseconds(5100)), milliseconds(4900));
  EXPECT_THAT(job.Decided("lost"), HasSubstr("did not come to the new"));
  EXPECT_EQ(job.kind("a"), DirectiveKind::kStop);
}

TEST(JobRecordTest, AnAgentThatDiedWithTheCoordinatorIsLostAtOnce) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.ReplaceCoordinator();
  job.Step(AgentDied{"a"});
  EXPECT_THAT(job.Decided("lost"), HasSubstr("it hosted the coordinator"));
  job.Step(AgentDied{"stranger"});
  EXPECT_EQ(job.Count("lost"), 1);
  job.Reconnect("b");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kStop);
  job.AllStop();
  EXPECT_EQ(job.round(), 2);
  EXPECT_EQ(job.status().restarts_used, 0);
}

TEST(JobRecordTest, AnAgentThatDiedAfterTheVerdictChangesNothing) {
  JobFixture job(QuickSpec(1, 1));
  job.StartAll({"a"});
  job.Succeeds("a");
  job.ReplaceCoordinator();
  job.Step(AgentDied{"a"});
  EXPECT_EQ(job.Count("lost"), 0);
}

TEST(JobRecordTest, AStandstillOfTheNewCoordinatorShortensNoLease) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.ReplaceCoordinator();
  job.StandStill(seconds(6));
  job.Reconnect("a");
  job.Wait(seconds(3));
  job.Reconnect("b");
  EXPECT_EQ(job.Count("lost"), 0);
}

TEST(JobRecordTest, AMemberThatWasNotYetToldToRunIsTold) {
  JobFixture job(QuickSpec(2, 2));
  job.Create("a").deaf = true;
  job.Join("a");
  job.Join("b");
  ASSERT_EQ(job.phase(), JobPhase::kRunning);
  job.ReplaceCoordinator();
  job.agent("a").deaf = false;
  job.ReconnectAll({"a", "b"});
  EXPECT_EQ(job.kind("a"), DirectiveKind::kRun);
  job.Runs("a");
  job.Runs("b");
  job.Wait(seconds(120));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

TEST(JobRecordTest, AFailureInTheCoordinatorsAbsenceIsCountedOnce) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.ReplaceCoordinator();
  job.FailsUnreported("a", ExitedWith(0, 3), NodePhase::kStopping);
  job.ReconnectAll({"a", "b"});
  EXPECT_EQ(job.status().restarts_used, 1);
  job.ReplaceCoordinator();
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.ReconnectAll({"a", "b"});
  EXPECT_EQ(job.kind("b"), DirectiveKind::kStop);
  EXPECT_THAT(job.told("b").reason, HasSubstr("exit code 3"));
  job.AllStop();
  EXPECT_EQ(job.round(), 2);
  EXPECT_EQ(job.status().restarts_used, 1);
}

TEST(JobRecordTest, TheBudgetIsNotForgotten) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Fails("a", ExitedWith(0, 3));
  job.AllStop();
  job.ReplaceCoordinator();
  for (const char* name : {"a", "b"}) {
    job.Reconnect(name);
    job.Runs(name);
  }
  job.Fails("b", ExitedWith(1, 4));
  job.AllStop();
  ASSERT_TRUE(job.status().verdict.has_value());
  EXPECT_EQ(job.status().verdict->exit_code, 4);
  EXPECT_EQ(job.status().verdict->restarts_used, 1);
}

TEST(JobRecordTest, ACancelThatStopsARoundStillEndsTheJob) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Step(CancelAsked{"launch cancel by ada"});
  job.ReplaceCoordinator();
  job.ReconnectAll({"a", "b"});
  EXPECT_EQ(job.told("a").stop.cause, StopCause::kCancelled);
  job.AllStop();
  EXPECT_EQ(job.status().verdict->outcome, Outcome::kCancelled);
  EXPECT_THAT(job.status().verdict->reason, HasSubstr("ada"));
}

TEST(JobRecordTest, AVerdictIsTheSameForNodesThatComeLater) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Succeeds("a");
  job.agent("b").deaf = true;
  job.Succeeds("b");
  job.agent("b").deaf = false;
  job.ReplaceCoordinator(seconds(60));
  EXPECT_TRUE(job.job().OwesVerdict());
  job.Reconnect("b");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kFinished);
  EXPECT_EQ(job.told("b").verdict.outcome, Outcome::kSucceeded);
}

TEST(JobRecordTest, ANodeThatHadSucceededCountsOnce) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Succeeds("a");
  job.ReplaceCoordinator();
  job.Reconnect("b");
  job.Fails("b", ExitedWith(1, 3));
  job.Reconnect("a");
  job.AllStop();
  EXPECT_EQ(job.round(), 2);
  EXPECT_FALSE(job.status().verdict.has_value());
}

TEST(JobRecordTest, AMemberThatIsStillAwayIsStoppedBeforeTheNextRound) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.ReplaceCoordinator();
  job.Reconnect("b");
  job.Fails("b", ExitedWith(1, 3));
  job.Idle("b");
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.Reconnect("a");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kStop);
  job.AllStop();
  EXPECT_EQ(job.round(), 2);
}

TEST(JobRecordTest, ADrainedNodeDoesNotComeBack) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.Step(DrainAsked{"b", "ada"});
  job.AllStop();
  job.BreakStream("b");
  job.ReplaceCoordinator();
  job.Reconnect("b");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kReleased);
}

TEST(JobRecordTest, AStrangerWithoutTheKeyDoesNotGetAMembersPlace) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.ReplaceCoordinator();
  const std::string key = job.agent("a").report.place_key;
  job.agent("a").report.place_key = "guessed";
  job.Reconnect("a");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kRefused);
  job.agent("a").report.place_key = key;
  job.Reconnect("a");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kRun);
}

TEST(JobRecordTest, AnAgentStartedAnewBreaksTheRound) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.ReplaceCoordinator();
  job.Reconnect("b");
  job.Restart("a");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kStop);
  EXPECT_THAT(job.told("b").reason, HasSubstr("was started anew"));
  job.AllStop();
  EXPECT_EQ(job.round(), 2);
  EXPECT_THAT(job.World(), ElementsAre("a", "b"));
}

TEST(JobRecordTest, RanksStayWhereAGatheringIsContinued) {
  JobFixture job(QuickSpec(2, 3));
  job.StartAll({"c", "b", "a"});
  const std::vector<std::string> world = job.World();
  job.Fails("a", ExitedWith(0, 1));
  job.agent("b").silent = true;
  job.Idle("a");
  job.Idle("c");
  job.ReplaceCoordinator();
  job.agent("b").silent = false;
  job.agent("b").report.phase = NodePhase::kIdle;
  job.ReconnectAll({"a", "c"});
  EXPECT_NE(job.phase(), JobPhase::kRunning);
  job.Reconnect("b");
  job.AllStop();
  EXPECT_EQ(job.round(), 2);
  EXPECT_EQ(job.World(), world);
}

TEST(JobRecordTest, ASignalThatWasForwardedIsNotForwardedAgain) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.agent("a").report.signals = {{1, SIGUSR1}};
  job.Report("a");
  EXPECT_EQ(job.Count("signal"), 1);
  job.ReplaceCoordinator();
  job.ReconnectAll({"a", "b"});
  EXPECT_EQ(job.Count("signal"), 1);
  job.agent("b").report.signals = {{1, SIGUSR2}};
  job.Report("b");
  ASSERT_EQ(job.told("a").signals.size(), 2u);
  EXPECT_EQ(job.told("a").signals[1].ordinal, 2u);
}

TEST(JobRecordTest, APreemptionKeepsItsDeadline) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.agent("a").report.preemption = {{SIGUSR1, "a", seconds(30)}};
  job.Report("a");
  job.agent("a").report.preemption.reset();
  job.ReplaceCoordinator(seconds(10));
  job.ReconnectAll({"a", "b"});
  job.Wait(milliseconds(19900));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  job.Wait(milliseconds(200));
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
}

TEST(JobRecordTest, AClockThatWentBackEndsNoGrace) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  const JobRecord record = job.job().Record();
  const JobState state =
      StateOf(record, 9, Instant(seconds(5)), Duration::zero());
  EXPECT_LE(state.world.began, state.now);
  EXPECT_LE(state.born, state.now);
}

TEST(JobRecordTest, OnlyChangesThatReportsDoNotShowAreRecorded) {
  JobFixture job(QuickSpec(2, 3));
  job.Join("a");
  EXPECT_TRUE(job.last_step().record_changed);
  job.Report("a");
  EXPECT_FALSE(job.last_step().record_changed);
  job.Join("b");
  EXPECT_FALSE(job.last_step().record_changed);
  job.Join("c");
  EXPECT_TRUE(job.last_step().record_changed);
  job.Runs("a");
  EXPECT_FALSE(job.last_step().record_changed);
  job.Runs("b");
  job.Fails("b", ExitedWith(1, 3));
  EXPECT_TRUE(job.last_step().record_changed);
  job.Idle("b");
  EXPECT_FALSE(job.last_step().record_changed);
}

TEST(JobRecordTest, TheEndOfOneMembersPartIsRecorded) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.Succeeds("a");
  EXPECT_TRUE(job.last_step().record_changed);
  job.Report("a");
  EXPECT_FALSE(job.last_step().record_changed);
  job.BreakStream("a");
  EXPECT_FALSE(job.last_step().record_changed);
  job.Wait(milliseconds(500));
  EXPECT_EQ(job.Count("lost"), 1);
  EXPECT_TRUE(job.last_step().record_changed);
}

TEST(JobRecordTest, AVerdictWithoutARoundIsRecorded) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  job.Step(CancelAsked{"ada"});
  ASSERT_TRUE(job.job().finished());
  EXPECT_TRUE(job.last_step().record_changed);
}

TEST(JobRecordTest, ADrainIsRecorded) {
  JobFixture job(QuickSpec(1, 1));
  job.StartAll({"a", "b"});
  job.Step(DrainAsked{"b", "ada"});
  EXPECT_TRUE(job.last_step().record_changed);
}

TEST(JobRecordTest, AMemberThatDoesNotStartItsWorkersIsLost) {
  JobFixture job(QuickSpec(1, 2));
  job.Join("a");
  job.Join("b");
  job.Runs("a");
  job.ReplaceCoordinator();
  job.ReconnectAll({"a", "b"});
  EXPECT_GT(job.WaitFor("lost", seconds(65)), seconds(59));
  EXPECT_THAT(job.Decided("lost"), HasSubstr("did not start its workers"));
}

TEST(JobRecordTest, AFailureThatIsReportedAgainIsNoOther) {
  JobSpec spec = QuickSpec(2, 2);
  spec.max_restarts = 0;
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  job.Fails("a", ExitedWith(0, 3));
  job.ReplaceCoordinator();
  job.ReconnectAll({"a", "b"});
  job.AllStop();
  ASSERT_TRUE(job.status().verdict.has_value());
  EXPECT_EQ(job.status().verdict->cause->exit_code, 3);
  EXPECT_THAT(job.status().verdict->collateral, IsEmpty());
}

TEST(IsEndingTest, AJobThatGoesOnIsNotEnding) {
  JobFixture job(QuickSpec(2, 2));
  EXPECT_FALSE(IsEnding(job.job().Record()));
  job.StartAll({"a", "b"});
  EXPECT_FALSE(IsEnding(job.job().Record()));
  job.Fails("a", ExitedWith(0, 3));
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  EXPECT_FALSE(IsEnding(job.job().Record()));
}

TEST(IsEndingTest, AJobThatStopsForTheLastTimeIsEnding) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Step(CancelAsked{"launch cancel by ada"});
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  EXPECT_TRUE(IsEnding(job.job().Record()));
  job.AllStop();
  EXPECT_EQ(job.phase(), JobPhase::kFinished);
  EXPECT_TRUE(IsEnding(job.job().Record()));
}

TEST(IsEndingTest, APreemptedJobIsEnding) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.agent("a").report.preemption = {{SIGUSR1, "a", seconds(30)}};
  job.Report("a");
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_TRUE(IsEnding(job.job().Record()));
}

TEST(ForNextRunTest, APreemptedJobKeepsItsRoundsAndBudget) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Fails("a", ExitedWith(0, 3));
  job.AllStop();
  for (const char* name : {"a", "b"}) job.Runs(name);
  EXPECT_FALSE(ForNextRun(job.job().Record()).has_value());
  job.agent("a").report.preemption = {{SIGUSR1, "a", seconds(30)}};
  job.Report("a");
  const auto soon = ForNextRun(job.job().Record());
  ASSERT_TRUE(soon.has_value());
  job.Wait(seconds(31));
  job.AllStop();
  ASSERT_EQ(job.status().verdict->outcome, Outcome::kPreempted);
  const auto next = ForNextRun(job.job().Record());
  ASSERT_TRUE(next.has_value());
  for (const JobRecord& record : {*soon, *next}) {
    EXPECT_TRUE(CheckRecord(record).ok());
    EXPECT_FALSE(IsEnding(record));
    EXPECT_EQ(record.claimed_round, 2);
    EXPECT_EQ(record.restarts_used, 1);
    EXPECT_EQ(record.run_tag, job.job().Record().run_tag);
  }
  // A node that knows no round begins the next one.
  Job again(StateOf(*next, 9, Instant(seconds(1000)), seconds(60)));
  EXPECT_EQ(again.phase(), JobPhase::kGathering);
  EXPECT_EQ(again.Status(Instant(seconds(1000))).restarts_used, 1);
}

TEST(ForNextRunTest, AJobThatHasEndedForGoodHasNoNextRun) {
  JobFixture job(QuickSpec(1, 1));
  job.StartAll({"a"});
  job.Step(CancelAsked{"launch cancel by ada"});
  job.AllStop();
  EXPECT_FALSE(ForNextRun(job.job().Record()).has_value());
}

TEST(CheckRecordTest, RefusesWhatNoJobCanHave) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  const JobRecord sound = job.job().Record();
  ASSERT_TRUE(CheckRecord(sound).ok());
  const auto why = [](const JobRecord& record) {
    return std::string(CheckRecord(record).message());
  };
  JobRecord record = sound;
  record.spec.min_nodes = 0;
  EXPECT_THAT(why(record), HasSubstr("has a setting that"));
  record = sound;
  record.verdict = Verdict();
  EXPECT_THAT(why(record), HasSubstr("verdict"));
  record = sound;
  record.phase = JobPhase::kFinished;
  EXPECT_THAT(why(record), HasSubstr("verdict"));
  record = sound;
  record.world = World();
  EXPECT_THAT(why(record), HasSubstr("no world"));
  record = sound;
  record.members.push_back(record.members[0]);
  EXPECT_THAT(why(record), HasSubstr("names node a twice"));
  record = sound;
  record.members[0].identity.node_rank = 1;
  record.members[1].identity.node_rank = 1;
  EXPECT_THAT(why(record), HasSubstr("has node rank 1 twice"));
  record = sound;
  record.members[0].group_rank = 1;
  EXPECT_THAT(why(record), HasSubstr("a rank of another"));
  record = sound;
  record.members[0].group_rank = 2;
  EXPECT_THAT(why(record), HasSubstr("a rank of another"));
  record = sound;
  record.phase = JobPhase::kStopping;
  record.members[0].part = Part::kSucceeded;
  EXPECT_THAT(why(record), HasSubstr("is to stop"));
  record = sound;
  record.world.succeeded = 3;
  EXPECT_THAT(why(record), HasSubstr("succeeded wrongly"));
  // No member has succeeded, so the record's count of 1 is wrong.
  record.world.succeeded = 1;
  EXPECT_THAT(why(record), HasSubstr("succeeded wrongly"));
}

}  // namespace
}  // namespace muster::rendezvous
