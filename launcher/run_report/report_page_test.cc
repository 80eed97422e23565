#include "launcher/run_report/report_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace muster::launcher {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr double kBegin = 1772373900;
constexpr char kHostile[] = "</pre><script>alert(1)</script>\x1b[31m\xff\"'&";

ReportRound Round(int number, double begin, double end,
                  ReportRound::End ended_by) {
  return {.number = number,
          .begin = kBegin + begin,
          .end = kBegin + end,
          .ended_by = ended_by,
          .began_as = "round begins: 2 nodes, 4 workers",
          .why = "rank 1 was killed",
          .cause = std::nullopt,
          .max_step = std::nullopt,
          .first_step = std::nullopt};
}

RunReport Failed() {
  RunReport report;
  report.run_id = "a-job";
  report.first_time = kBegin;
  report.last_time = kBegin + 60;
  report.verdict = RecordedVerdict{.outcome = "failed",
                                   .exit_code = 137,
                                   .reason = "rank 1 was killed by SIGKILL",
                                   .lasted_s = 60,
                                   .rounds = 2,
                                   .restarts_used = 1};
  report.finish_reason = "rank 1 was killed by SIGKILL";
  report.rounds = {Round(1, 1, 20, ReportRound::End::kBroken),
                   Round(2, 25, 59, ReportRound::End::kBroken)};
  rendezvous::Failure failure;
  failure.kind = rendezvous::FailureKind::kSignal;
  failure.signal = 9;
  failure.rank = 1;
  failure.local_rank = 0;
  failure.host = "h2";
  failure.stderr_tail = {"last words"};
  report.interruptions = {
      {.round = 1,
       .time = kBegin + 20,
       .why = "rank 1 was killed by SIGKILL",
       .failure = failure,
       .incident = rendezvous::Incident{.round = 1,
                                        .cause = rendezvous::LossCause::kWorker,
                                        .nodes = 1,
                                        .lost_s = 7.25},
       .next_round = kBegin + 25,
       .repeated_steps = 11}};
  report.time.emplace();
  report.time->spent_s[static_cast<size_t>(rendezvous::Activity::kProductive)] =
      90;
  report.time->spent_s[static_cast<size_t>(rendezvous::Activity::kRecovering)] =
      10;
  report.time->by_cause[0] = {.incidents = 1, .pause_s = 7.25};
  report.nodes = 2;
  report.workers = 4;
  report.node_times = {
      {.node_id = "n1", .group_rank = 0, .first_rank = 0, .slots = 2}};
  report.node_times[0]
      .spent_s[static_cast<size_t>(rendezvous::Activity::kProductive)] = 45;
  for (int i = 0; i < 5; ++i) {
    report.samples.push_back({.time = kBegin + 10 * i,
                              .round = 1,
                              .step = 10 * i,
                              .loss = 2.0 / (1 + i)});
  }
  return report;
}

TEST(ReportPage, SaysOutcomeCulpritTimesAndCost) {
  const std::string page = ReportPage(Failed(), kBegin + 100);
  EXPECT_THAT(page, StartsWith(kReportMark));
  EXPECT_THAT(page, HasSubstr("The job failed: rank 1 was killed by SIGKILL"));
  EXPECT_THAT(page, HasSubstr("<dt>exit code</dt><dd>137</dd>"));
  EXPECT_THAT(page, HasSubstr("2 nodes, 4 workers"));
  EXPECT_THAT(page, HasSubstr("90.0 %"));
  EXPECT_THAT(page, HasSubstr("rank 1 (local rank 0) on h2"));
  EXPECT_THAT(page, HasSubstr("worker: killed by SIGKILL (signal 9)"));
  EXPECT_THAT(page, HasSubstr("<td class=\"num\">7.2s</td>"));
  EXPECT_THAT(page, HasSubstr("<td class=\"num\">5.0s</td>"));
  EXPECT_THAT(page, HasSubstr("≥ 11"));
  EXPECT_THAT(page, HasSubstr("last words"));
  EXPECT_THAT(page, HasSubstr("2026-03-01 14:05:20 UTC"));
  EXPECT_THAT(page, HasSubstr("id=\"chart-loss\""));
  EXPECT_THAT(page, HasSubstr("id=\"chart-step-time\""));
}

TEST(ReportPage, LoadsAndRunsNothing) {
  const std::string page = ReportPage(Failed(), kBegin);
  EXPECT_THAT(page, HasSubstr("default-src 'none'; style-src 'sha256-"));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("http:")),
                          Not(HasSubstr("https:")), Not(HasSubstr("style=")),
                          Not(HasSubstr("url(")), Not(HasSubstr("@import"))));
}

// Returns a report in which every text contains HTML and control characters.
RunReport Hostile() {
  RunReport report = Failed();
  report.run_id = kHostile;
  report.verdict->outcome = report.verdict->reason = kHostile;
  report.newest_phase = report.newest_reason = kHostile;
  for (ReportRound& round : report.rounds) {
    round.began_as = round.why = kHostile;
  }
  rendezvous::Failure& failure = *report.interruptions[0].failure;
  failure.host = failure.node_id = failure.message = kHostile;
  failure.stderr_tail = failure.stack = {kHostile};
  failure.traceback = kHostile;
  report.interruptions[0].why = kHostile;
  report.interruptions[0].incident->host = kHostile;
  report.time->newest = {{.round = 1, .host = kHostile, .why = kHostile}};
  report.node_times[0].node_id = report.node_times[0].host = kHostile;
  report.slow_ranks = {
      {.rank = 1, .host = kHostile, .gpu = kHostile, .phase = kHostile}};
  const ReportNote note{
      .time = kBegin, .kind = kHostile, .node = kHostile, .reason = kHostile};
  report.health = report.stragglers = report.notes = {note};
  report.settings = {{kHostile, kHostile}, {"command", kHostile}};
  report.outputs = {{.round = 9,
                     .rank = 0,
                     .why = kHostile,
                     .host = kHostile,
                     .streams = {{.name = kHostile, .lines = {kHostile}}},
                     .error_message = kHostile,
                     .error_traceback = kHostile}};
  report.flights = {{.round = 1, .text = kHostile}};
  report.sources = {{.path = kHostile, .what = kHostile}};
  report.missing = {kHostile};
  return report;
}

TEST(ReportPage, HostileTextsAreText) {
  for (const bool has_verdict : {true, false}) {
    RunReport report = Hostile();
    if (!has_verdict) report.verdict.reset();
    const std::string page = ReportPage(report, kBegin);
    EXPECT_THAT(page, Not(HasSubstr("<script")));
    EXPECT_THAT(page, Not(HasSubstr("\x1b")));
    EXPECT_THAT(page, Not(HasSubstr("\xff")));
    EXPECT_THAT(page, HasSubstr("&lt;/pre&gt;&lt;script&gt;"));
  }
}

TEST(ReportPage, SizeIsBounded) {
  RunReport report = Hostile();
  const std::string text(700, '<');
  report.rounds.assign(RunReport::kMaxRounds, report.rounds[0]);
  for (ReportRound& round : report.rounds) round.why = text;
  report.interruptions.assign(RunReport::kMaxRounds, report.interruptions[0]);
  for (ReportInterruption& one : report.interruptions) one.why = text;
  report.notes.assign(RunReport::kMaxNotes, report.notes[0]);
  for (ReportNote& note : report.notes) note.reason = text;
  report.node_times.assign(RunReport::kMaxNodes, report.node_times[0]);
  EXPECT_LT(ReportPage(report, kBegin).size(), size_t{4} << 20);
}

TEST(ReportPage, EmptyRunSaysWhatIsUnknown) {
  const std::string page = ReportPage(RunReport(), kBegin);
  EXPECT_THAT(page, HasSubstr("The event log has no events of this run."));
  EXPECT_THAT(page, HasSubstr("No round began."));
  EXPECT_THAT(page, HasSubstr("the use of the time is not known"));
  EXPECT_THAT(page, HasSubstr("The workers reported no steps"));
}

TEST(ReportPage, RunWithoutAVerdictSaysWhy) {
  RunReport report = Failed();
  report.verdict.reset();
  report.finish_reason.clear();
  report.newest_phase = "running";
  EXPECT_THAT(ReportPage(report, kBegin),
              HasSubstr("The event log has no verdict. Its newest event is of "
                        "2026-03-01 14:06:00 UTC"));
}

TEST(ReportPage, LossThatIsNoNumberIsSaid) {
  RunReport report = Failed();
  report.samples[2].loss = std::numeric_limits<double>::quiet_NaN();
  report.samples[3].loss = std::numeric_limits<double>::infinity();
  const std::string page = ReportPage(report, kBegin);
  EXPECT_THAT(page, HasSubstr("2 samples not shown: NaN or infinite."));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("nan ")), Not(HasSubstr("\"inf"))));
}

TEST(OutcomeSentence, SuccessCountsInterruptions) {
  RunReport report = Failed();
  report.verdict->outcome = "succeeded";
  EXPECT_EQ(OutcomeSentence(report), "The job succeeded after 1 interruption.");
  report.interruptions.clear();
  EXPECT_EQ(OutcomeSentence(report),
            "The job succeeded without an interruption.");
}

RunReport OfRecord() {
  RunReport report;
  report.run_id = "a-job";
  report.first_time = kBegin;
  report.last_time = kBegin + 60;
  report.newest_phase = "running";
  report.newest_reason = kHostile;
  report.restarts_used = 1;
  report.max_restarts = 3;
  report.rounds = {Round(2, 60, 0, ReportRound::End::kUnknown)};
  report.rounds[0].end = 0;
  report.rounds_dropped = 1;
  report.interruptions = {
      {.round = 1,
       .why = "rank 1 was killed",
       .failure = std::nullopt,
       .incident = rendezvous::Incident{.round = 1,
                                        .cause = rendezvous::LossCause::kHang,
                                        .nodes = 0,
                                        .lost_s = 7.25},
       .repeated_steps = std::nullopt}};
  report.time.emplace();
  report.time->spent_s[static_cast<size_t>(rendezvous::Activity::kProductive)] =
      90;
  report.node_times = {{.node_id = "n0", .host = "h0", .group_rank = 0}};
  report.record = ReportRecord{.written_at = kBegin + 60,
                               .phase = "running",
                               .reason = kHostile,
                               .round = 2,
                               .restarts_used = 1,
                               .max_restarts = 3,
                               .owner = kHostile,
                               .members = {{.node_id = kHostile,
                                            .host = "h0",
                                            .group_rank = 0,
                                            .first_rank = 0,
                                            .slots = 8,
                                            .state = "assigned",
                                            .note = kHostile}},
                               .verdict = std::nullopt,
                               .is_newer = true};
  report.machines = {{.host = kHostile,
                      .address = kHostile,
                      .state = "banned",
                      .score = 2.96,
                      .faults = 1,
                      .faults_elsewhere = 4,
                      .newest_at = kBegin + 30,
                      .newest = kHostile,
                      .order = kHostile}};
  return report;
}

TEST(ReportPageTest, RecordAloneSaysWhatTheJournalDoesNotKnow) {
  const std::string page = ReportPage(OfRecord(), kBegin + 100);
  EXPECT_THAT(page, HasSubstr("The journal has no verdict. Its record is of "));
  EXPECT_THAT(page, HasSubstr("it ran when the journal was written"));
  EXPECT_THAT(page, HasSubstr("<dt>restarts used</dt><dd>1 of 3</dd>"));
  EXPECT_THAT(page, HasSubstr("the time of nodes that have left"));
  EXPECT_THAT(page, Not(HasSubstr("productive (ETTR)")));
  EXPECT_THAT(page, Not(HasSubstr("7.2s")));
  EXPECT_THAT(page, Not(HasSubstr("By node")));
  EXPECT_THAT(page, Not(HasSubstr("no slow rank was found")));
  EXPECT_THAT(page, HasSubstr("<td class=\"num\">0 to 7</td>"));
  EXPECT_THAT(page, HasSubstr("<td class=\"num\">3</td>"));
  // The report's only round began at the time at which the record was written.
  // A time line of this round would cover no time, so the page has none.
  EXPECT_THAT(page, Not(HasSubstr("class=\"lane\"")));
}

TEST(ReportPageTest, HostileRecordIsText) {
  const std::string page = ReportPage(OfRecord(), kBegin + 100);
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
}

TEST(ReportPageTest, ComparisonOfRecordAndLogIsShown) {
  RunReport report = Failed();
  report.events = 7;
  report.record = ReportRecord{.written_at = kBegin + 60,
                               .verdict = std::nullopt,
                               .comparison = "they disagree"};
  const std::string page = ReportPage(report, kBegin + 100);
  EXPECT_THAT(page, HasSubstr("they disagree"));
  EXPECT_THAT(page, HasSubstr("productive (ETTR)"));
  EXPECT_THAT(page, HasSubstr("None: no node was in the job."));
}

}  // namespace
}  // namespace muster::launcher
