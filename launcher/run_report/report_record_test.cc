#include "launcher/run_report/report_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "launcher/run_report/sample_events.h"

namespace muster::launcher {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::SizeIs;

constexpr int kBegan = 1772373900;

rendezvous::Failure KilledAfterOutput(int rank) {
  rendezvous::Failure failure = Killed(rank, "h1");
  failure.stderr_tail = {"last words"};
  return failure;
}

// The record of a job in its second round, 100 s after its beginning: n0 and n1
// run, n2 is a spare, and n1 is being drained.
rendezvous::KeptJob Running() {
  rendezvous::KeptJob kept;
  kept.written_at = seconds(kBegan + 100);
  kept.owner.principal = "team";
  kept.channel_key = "secret key";
  rendezvous::JobRecord& job = kept.job;
  job.run_id = "a";
  job.run_tag = "0a1b2c3d";
  job.spec.min_nodes = 2;
  job.spec.max_nodes = 2;
  job.spec.max_restarts = 3;
  job.spec.command = "train.py --api-key=k3y";
  job.age = seconds(100);
  job.phase = rendezvous::JobPhase::kRunning;
  job.why = "2 nodes run";
  job.round = 2;
  job.restarts_used = 1;
  job.ran = seconds(40);
  job.world.world_size = 4;
  for (int rank = 0; rank < 3; ++rank) {
    rendezvous::JobRecord::Member member;
    member.identity.node_id = absl::StrCat("n", rank);
    member.identity.host = absl::StrCat("h", rank);
    member.identity.slots = 2;
    if (rank < 2) {
      job.world.members.push_back({.node_id = member.identity.node_id,
                                   .host = member.identity.host,
                                   .first_rank = 2 * rank,
                                   .slots = 2,
                                   .peer = "",
                                   .departure = ""});
      member.part = rendezvous::Part::kRunning;
      member.group_rank = rank;
    }
    job.members.push_back(member);
  }
  job.members[1].going = true;
  job.members[1].going_why = "drained";
  job.time.newest = {{.round = 1,
                      .cause = rendezvous::LossCause::kWorker,
                      .host = "h1",
                      .why = "rank 3 was killed",
                      .nodes = 2,
                      .lost_s = 10}};
  return kept;
}

rendezvous::KeptJob Failed() {
  rendezvous::KeptJob kept = Running();
  rendezvous::JobRecord& job = kept.job;
  job.phase = rendezvous::JobPhase::kFinished;
  job.why = job.blamed = "rank 1 was killed";
  job.failures.Add(KilledAfterOutput(1));
  rendezvous::Verdict verdict;
  verdict.outcome = rendezvous::Outcome::kFailed;
  verdict.exit_code = 137;
  verdict.reason = "rank 1 was killed";
  verdict.restarts_used = 1;
  verdict.rounds = 2;
  verdict.lasted = seconds(90);
  verdict.time = job.time;
  verdict.time.spent_s[static_cast<size_t>(rendezvous::Activity::kProductive)] =
      50;
  verdict.time.newest.push_back({.round = 2,
                                 .cause = rendezvous::LossCause::kWorker,
                                 .host = "h1",
                                 .why = "rank 1 was killed",
                                 .nodes = 2,
                                 .lost_s = 4});
  job.verdict = verdict;
  return kept;
}

RecordedEvent Event(double second, int round, std::string kind) {
  return EventOf(kBegan + second, round, std::move(kind));
}

// Returns the report of an event log with three events. The first round begins,
// the first round breaks, and at `last_second` an event of the kind "state"
// gives the job's state.
RunReport Logged(double last_second, int restarts_used) {
  ReportBuilder builder;
  builder.Add(Event(1, 1, "assign"));
  builder.Add(Event(50, 1, "break"));
  RecordedEvent event = Event(last_second, 1, "state");
  event.state.emplace();
  event.state->phase = "gathering";
  event.state->age_s = last_second;
  event.state->restarts_used = restarts_used;
  builder.Add(event);
  return builder.Take();
}

TEST(ReportRecordTest, RecordAloneMakesAReportOfARunningJob) {
  const RunReport report = ReportOf(Running());
  EXPECT_EQ(report.run_id, "a");
  EXPECT_EQ(report.events, 0);
  EXPECT_EQ(report.first_time, kBegan);
  EXPECT_EQ(report.last_time, kBegan + 100);
  EXPECT_FALSE(report.verdict.has_value());
  EXPECT_EQ(report.newest_phase, "running");
  EXPECT_EQ(report.restarts_used, 1);
  EXPECT_EQ(report.max_restarts, 3);
  EXPECT_EQ(report.nodes, 2);
  EXPECT_EQ(report.workers, 4);
  // The report has no times: the record of a running job has only the times of
  // nodes that have left, and no node has left.
  EXPECT_FALSE(report.time.has_value());
  ASSERT_THAT(report.rounds, SizeIs(1));
  EXPECT_EQ(report.rounds[0].number, 2);
  EXPECT_EQ(report.rounds[0].begin, kBegan + 60);
  EXPECT_EQ(report.rounds[0].ended_by, ReportRound::End::kUnknown);
  EXPECT_EQ(report.rounds_dropped, 1);
  ASSERT_THAT(report.interruptions, SizeIs(1));
  EXPECT_EQ(report.interruptions[0].round, 1);
  EXPECT_EQ(report.interruptions[0].time, 0);
  EXPECT_EQ(report.interruptions[0].why, "rank 3 was killed");
  EXPECT_EQ(report.interruptions[0].incident->cause,
            rendezvous::LossCause::kWorker);
  // `nodes` is the number of nodes whose lost time is known. It is 0, because
  // the record lacks the times of connected nodes.
  EXPECT_EQ(report.interruptions[0].incident->nodes, 0);
  EXPECT_EQ(HostOfRank(report, 3), "h1");
}

TEST(ReportRecordTest, RecordHasTheNodesAndNoSecret) {
  const RunReport report = ReportOf(Running());
  ASSERT_TRUE(report.record.has_value());
  const ReportRecord& record = *report.record;
  EXPECT_EQ(record.written_at, kBegan + 100);
  EXPECT_EQ(record.owner, "team");
  EXPECT_EQ(record.run_tag, "0a1b2c3d");
  ASSERT_THAT(record.members, SizeIs(3));
  EXPECT_EQ(record.members[1].first_rank, 2);
  EXPECT_EQ(record.members[1].state, "runs");
  EXPECT_EQ(record.members[1].note, "drained");
  EXPECT_EQ(record.members[2].group_rank, std::nullopt);
  EXPECT_EQ(record.members[2].state, "spare");
  EXPECT_EQ(record.comparison, "");
  EXPECT_THAT(report.settings,
              AllOf(Contains(Pair("max_restarts", "3")),
                    Contains(Pair("command", AllOf(HasSubstr("train.py"),
                                                   Not(HasSubstr("k3y")))))));
  // Unlike an event of the log, a record does not contain the coordinator's
  // version.
  EXPECT_THAT(report.settings, Not(Contains(Pair("version", testing::_))));
}

TEST(ReportRecordTest, RecordOfAnEndedJobHasVerdictCauseAndTime) {
  const RunReport report = ReportOf(Failed());
  ASSERT_TRUE(report.verdict.has_value());
  EXPECT_EQ(report.verdict->outcome, "failed");
  EXPECT_EQ(report.verdict->exit_code, 137);
  EXPECT_EQ(report.last_time, kBegan + 90);
  ASSERT_TRUE(report.time.has_value());
  EXPECT_EQ(report.time->total_s(), 50);
  ASSERT_THAT(report.interruptions, SizeIs(2));
  EXPECT_EQ(report.interruptions[0].incident->pause_s(), 5);
  EXPECT_EQ(report.interruptions[1].time, kBegan + 90);
  ASSERT_TRUE(report.interruptions[1].failure.has_value());
  EXPECT_THAT(report.interruptions[1].failure->stderr_tail,
              ElementsAre("last words"));
  EXPECT_EQ(report.rounds[0].ended_by, ReportRound::End::kBroken);
  EXPECT_THAT(WantedOutputs(report),
              ElementsAre(AllOf(Field(&WantedOutput::round, 2),
                                Field(&WantedOutput::rank, 1))));
}

TEST(ReportRecordTest, JobWithoutARoundHasNone) {
  rendezvous::KeptJob kept;
  kept.written_at = seconds(kBegan);
  kept.job.run_id = "a";
  kept.job.why = "0 of 1 nodes";
  const RunReport report = ReportOf(kept);
  EXPECT_THAT(report.rounds, IsEmpty());
  EXPECT_THAT(report.interruptions, IsEmpty());
  EXPECT_THAT(report.record->members, IsEmpty());
  EXPECT_EQ(report.newest_reason, "0 of 1 nodes");
}

TEST(ReportRecordTest, NodeThatHasLeftTheWorldIsNamed) {
  rendezvous::KeptJob kept = Running();
  kept.job.members.erase(kept.job.members.begin());
  kept.job.world.members[1].departure = "lost";
  kept.job.members.erase(kept.job.members.begin());
  const RunReport report = ReportOf(kept);
  ASSERT_THAT(report.record->members, SizeIs(3));
  EXPECT_EQ(report.record->members[0].note, "not in the job any more");
  EXPECT_EQ(report.record->members[1].note, "lost");
}

TEST(ReportRecordTest, NewerRecordPrevailsAndTheDifferencesAreSaid) {
  RunReport report = Logged(55, 0);
  AddRecord(Running(), report);
  ASSERT_TRUE(report.record.has_value());
  EXPECT_TRUE(report.record->is_newer);
  EXPECT_THAT(
      report.record->comparison,
      AllOf(HasSubstr("45.0 s newer than the newest event"),
            HasSubstr("the round (2 in the journal, 1 in the log)"),
            HasSubstr("the restarts used (1 in the journal, 0 in the log)"),
            HasSubstr("follows the journal"), Not(HasSubstr("the verdict"))));
  EXPECT_THAT(report.missing, ElementsAre(report.record->comparison));
  EXPECT_EQ(report.restarts_used, 1);
  EXPECT_EQ(report.newest_phase, "running");
  EXPECT_EQ(report.last_time, kBegan + 100);
  ASSERT_THAT(report.rounds, SizeIs(2));
  EXPECT_EQ(report.rounds[1].begin, kBegan + 60);
  EXPECT_EQ(report.rounds_dropped, 0);
}

TEST(ReportRecordTest, OlderRecordGivesWayToTheLog) {
  RunReport report = Logged(130, 2);
  AddRecord(Running(), report);
  EXPECT_FALSE(report.record->is_newer);
  EXPECT_THAT(report.record->comparison,
              AllOf(HasSubstr("30.0 s older than the newest event"),
                    HasSubstr("the restarts used (1 in the journal, 2"),
                    HasSubstr("follows the event log")));
  EXPECT_EQ(report.restarts_used, 2);
  EXPECT_EQ(report.newest_phase, "gathering");
  EXPECT_THAT(report.rounds, SizeIs(1));
  EXPECT_EQ(report.last_time, kBegan + 130);
  // The event log of this test has no settings, so the report has those of the
  // record.
  EXPECT_THAT(report.settings, Contains(Pair("max_restarts", "3")));
}

TEST(ReportRecordTest, SettingsOfTheLogStayAndAreCompleted) {
  RunReport report = Logged(130, 1);
  report.settings = {{"command", ""}, {"max_restarts", "5"}};
  AddRecord(Running(), report);
  EXPECT_THAT(report.settings,
              AllOf(Contains(Pair("command", HasSubstr("train.py"))),
                    Contains(Pair("max_restarts", "5")),
                    Contains(Pair("max_nodes", "2"))));
}

TEST(ReportRecordTest, RecordThatAgreesIsNotComplainedAbout) {
  RunReport report = Logged(130, 1);
  rendezvous::KeptJob kept = Running();
  kept.job.round = 1;
  AddRecord(kept, report);
  EXPECT_THAT(report.record->comparison,
              HasSubstr("agrees with the event log"));
  EXPECT_THAT(report.missing, IsEmpty());
  // The event log does not show the interruption of round 1, so this
  // interruption comes from the journal's record.
  ASSERT_THAT(report.interruptions, SizeIs(1));
  EXPECT_EQ(report.interruptions[0].round, 1);
}

TEST(ReportRecordTest, VerdictThatTheLogLacksComesFromTheJournal) {
  for (const double last_second : {55.0, 130.0}) {
    RunReport report = Logged(last_second, 1);
    AddRecord(Failed(), report);
    EXPECT_THAT(report.record->comparison,
                HasSubstr("the verdict (failed, exit code 137 in the journal, "
                          "none in the log)"));
    ASSERT_TRUE(report.verdict.has_value()) << last_second;
    EXPECT_EQ(report.verdict->exit_code, 137);
    EXPECT_EQ(report.time->total_s(), 50);
  }
}

TEST(ReportRecordTest, VerdictOfTheLogStaysIfTheJournalIsOlder) {
  RunReport report = Logged(130, 1);
  report.verdict = RecordedVerdict{.outcome = "succeeded"};
  AddRecord(Failed(), report);
  EXPECT_THAT(report.record->comparison,
              HasSubstr("failed, exit code 137 in the journal, succeeded, exit "
                        "code 0 in the log"));
  EXPECT_EQ(report.verdict->outcome, "succeeded");
}

TEST(ReportRecordTest, RoundThatIsOpenInTheLogEndsAsTheJournalSays) {
  ReportBuilder builder;
  builder.Add(Event(61, 2, "assign"));
  RunReport report = builder.Take();
  AddRecord(Failed(), report);
  ASSERT_THAT(report.rounds, SizeIs(1));
  EXPECT_EQ(report.rounds[0].ended_by, ReportRound::End::kBroken);
  EXPECT_EQ(report.rounds[0].end, kBegan + 90);
  EXPECT_EQ(report.rounds[0].cause->rank, 1);
}

TEST(ReportRecordTest, RecordOfAnotherRunIsNotMixedIn) {
  RunReport report = Logged(130, 1);
  rendezvous::KeptJob later = Running();
  later.written_at += seconds(1000);
  AddRecord(later, report);
  EXPECT_FALSE(report.record.has_value());
  EXPECT_EQ(report.restarts_used, 1);
  EXPECT_THAT(
      report.missing,
      ElementsAre(HasSubstr("The journal is newer than the event log")));
  report.missing.clear();
  rendezvous::KeptJob earlier = Running();
  earlier.written_at -= seconds(1000);
  AddRecord(earlier, report);
  EXPECT_FALSE(report.record.has_value());
  EXPECT_THAT(
      report.missing,
      ElementsAre(HasSubstr("The journal is older than the event log")));
}

// The record was written before the oldest event that the log still has. But
// this event contains the job's age, which shows that the job began before the
// record was written. So the record is of the same run, and the report uses it.
TEST(ReportRecordTest, RecordFromBeforeARotatedLogIsOfTheSameRun) {
  ReportBuilder builder;
  RecordedEvent event = Event(5000, 2, "state");
  event.state.emplace();
  event.state->age_s = 5000;
  event.state->restarts_used = 1;
  builder.Add(event);
  RunReport report = builder.Take();
  AddRecord(Running(), report);
  EXPECT_TRUE(report.record.has_value());
}

rendezvous::NodeMemory::Kept::Fault Fault(const std::string& host,
                                          const std::string& run_id,
                                          int second) {
  rendezvous::NodeMemory::Kept::Fault fault;
  fault.fault.host = {.host = host, .ip = "10.0.0.1"};
  fault.fault.run_id = run_id;
  fault.fault.kind = rendezvous::FaultKind::kLost;
  fault.fault.text = "lost in " + run_id;
  fault.when = seconds(kBegan + second);
  return fault;
}

TEST(ReportRecordTest, MachinesOfOtherJobsAreLeftOut) {
  RunReport report = ReportOf(Running());
  rendezvous::NodeMemory::Kept memory;
  memory.hosts = {
      {.key = {.host = "h1", .ip = "10.0.0.1"},
       .state = rendezvous::HostState::kQuarantined,
       .order = "",
       .faults = {Fault("h1", "other", 1), Fault("h1", "a", 2),
                  Fault("h1", "a", 3)}},
      {.key = {.host = "h7", .ip = "10.0.0.1"},
       .order = "",
       .faults = {Fault("h7", "other", 4)}},
      {.key = {.host = "h8", .ip = "10.0.0.1"},
       .order = "",
       .faults = {Fault("h8", "a", 5)}},
      {.key = {.host = "h2", .ip = ""},
       .state = rendezvous::HostState::kBanned,
       .ordered_at = seconds(kBegan),
       .order = "broken fan",
       .faults = {}},
  };
  AddMachines(memory, report);
  ASSERT_THAT(report.machines, SizeIs(3));
  EXPECT_EQ(report.machines[0].host, "h2");
  EXPECT_EQ(report.machines[0].order, "broken fan");
  EXPECT_EQ(report.machines[1].host, "h1");
  EXPECT_EQ(report.machines[1].state, "quarantined");
  EXPECT_EQ(report.machines[1].faults, 2);
  EXPECT_EQ(report.machines[1].faults_elsewhere, 1);
  EXPECT_EQ(report.machines[1].newest, "lost in a");
  EXPECT_EQ(report.machines[1].newest_at, kBegan + 3);
  EXPECT_NEAR(report.machines[1].score, 3, 0.01);
  EXPECT_EQ(report.machines[2].host, "h8");
  EXPECT_EQ(report.machines_as_of, kBegan + 5);
}

// The log of a job whose second round has failed, without an event of the kind
// "state".
ReportBuilder FailedLog() {
  ReportBuilder builder;
  builder.Add(Event(1, 1, "assign"));
  RecordedEvent event = Event(50, 1, "break");
  event.failure = KilledAfterOutput(3);
  builder.Add(event);
  builder.Add(Event(60, 2, "assign"));
  event = Event(70, 2, "break");
  event.failure = KilledAfterOutput(0);
  event.reason = "rank 0 was killed";
  builder.Add(event);
  return builder;
}

TEST(ReportRecordTest, RoundsAndInterruptionsOfTheLogStay) {
  RunReport report = FailedLog().Take();
  AddRecord(Failed(), report);
  ASSERT_THAT(report.interruptions, SizeIs(2));
  EXPECT_EQ(report.interruptions[0].time, kBegan + 50);
  EXPECT_EQ(report.interruptions[1].failure->rank, 0);
  ASSERT_THAT(report.rounds, SizeIs(2));
  EXPECT_EQ(report.rounds[1].end, kBegan + 70);
  EXPECT_EQ(report.rounds[1].why, "rank 0 was killed");
}

TEST(ReportRecordTest, NewerVerdictOfTheJournalPrevails) {
  ReportBuilder builder = FailedLog();
  builder.Add(Event(71, 2, "finish"));
  RunReport report = builder.Take();
  report.verdict = RecordedVerdict{.outcome = "cancelled"};
  AddRecord(Failed(), report);
  EXPECT_TRUE(report.record->is_newer);
  EXPECT_EQ(report.verdict->outcome, "failed");
}

}  // namespace
}  // namespace muster::launcher
