#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <numeric>
#include <string>

#include "rendezvous/job/job_fixture.h"

namespace muster::rendezvous {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

void Spend(JobFixture* job, const std::string& name, int productive_s) {
  job->agent(name).report.time.ledger[Activity::kProductive] =
      seconds(productive_s);
  job->Report(name);
}

void Lose(JobFixture* job, const std::string& name, int round, int lost_s) {
  job->agent(name).report.time.losses = {
      {.round = round, .lost = seconds(lost_s)}};
  job->Report(name);
}

WorkerProgress AtStep(int64_t step) {
  WorkerProgress progress;
  progress.step = step;
  return progress;
}

TEST(JobTime, TheTimesOfNodesThatAreGoneStay) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  Spend(&job, "a", 10);
  Spend(&job, "b", 20);
  EXPECT_EQ(job.status().time.productive_s(), 30);
  job.Lose("b");
  ASSERT_EQ(job.status().nodes.size(), 1u);
  EXPECT_EQ(job.status().time.productive_s(), 30);
  // The agent of the lost node b reconnects. It reports its total time again:
  // 25 s, of which 20 s were counted before. So only 5 s must be added.
  job.agent("b").report.time.ledger[Activity::kProductive] = seconds(25);
  job.Reconnect("b");
  EXPECT_EQ(job.status().time.productive_s(), 35);
  job.Lose("b");
  // A restarted agent reports only the time since its own start.
  job.agent("b").report.time = {};
  job.Restart("b");
  Spend(&job, "b", 1);
  EXPECT_EQ(job.status().time.productive_s(), 36);
}

int64_t CountOf(const DurationHistogram& histogram) {
  return std::accumulate(histogram.counts.begin(), histogram.counts.end(),
                         int64_t{0});
}

TEST(JobTime, ARecoveryEndsOnceAllNodesRunALaterRound) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  job.Wait(seconds(3));
  job.Join("b");
  EXPECT_EQ(CountOf(job.status().rendezvous_times), 1);
  EXPECT_EQ(job.status().rendezvous_times.sum_s, 3);
  job.Runs("a");
  job.Runs("b");
  job.Wait(seconds(100));
  EXPECT_EQ(CountOf(job.status().recovery_times), 0);
  for (int broken = 0; broken < 2; ++broken) {
    job.Fails("b", ExitedWith(1, 3));
    job.Wait(seconds(2));
    job.Idle("a");
    job.Idle("b");
    ASSERT_EQ(job.status().round, broken + 2);
    job.Runs("a");
    EXPECT_EQ(CountOf(job.status().recovery_times), 0) << "b starts";
  }
  job.Runs("b");
  EXPECT_EQ(CountOf(job.status().recovery_times), 1);
  EXPECT_EQ(job.status().recovery_times.sum_s, 4);
  EXPECT_EQ(CountOf(job.status().rendezvous_times), 3);
  job.Runs("b");
  EXPECT_EQ(CountOf(job.status().recovery_times), 1);
}

TEST(JobTime, AnInterruptionHasItsCause) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  Failure failure = ExitedWith(1, 3);
  failure.host = "b";
  job.Fails("b", failure);
  EXPECT_THAT(job.status().time.newest, IsEmpty());
  job.Idle("a");
  job.Idle("b");
  Lose(&job, "a", 1, 4);
  Lose(&job, "b", 1, 6);
  const muster::rendezvous::JobTime time = job.status().time;
  ASSERT_THAT(time.newest, SizeIs(1));
  EXPECT_EQ(time.newest[0].round, 1);
  EXPECT_EQ(time.newest[0].cause, LossCause::kWorker);
  EXPECT_EQ(time.newest[0].host, "b");
  EXPECT_THAT(time.newest[0].why, HasSubstr("exit code 3"));
  EXPECT_EQ(time.newest[0].pause_s(), 5);
}

TEST(JobTime, AHangAndALostNodeAreCausesOfTheirOwn) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  Failure hang;
  hang.kind = FailureKind::kHung;
  hang.rank = 1;
  job.Fails("b", hang);
  job.Idle("a");
  job.Idle("b");
  job.Runs("a");
  job.Runs("b");
  job.Lose("b");
  job.Idle("a");
  job.Restart("b");
  job.Wait(seconds(5));
  const muster::rendezvous::JobTime time = job.status().time;
  ASSERT_THAT(time.newest, SizeIs(2));
  EXPECT_EQ(time.newest[0].cause, LossCause::kHang);
  EXPECT_EQ(time.newest[1].cause, LossCause::kNode);
}

TEST(JobTime, AChangeOfTheNodesIsNoFailure) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.agent("b").report.leave = "drained";
  job.Report("b");
  job.AllStop();
  job.Wait(seconds(5));
  ASSERT_THAT(job.status().time.newest, SizeIs(1));
  EXPECT_EQ(job.status().time.newest[0].cause, LossCause::kChange);
}

TEST(JobTime, TheVerdictHasIt) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  Spend(&job, "a", 10);
  job.Succeeds("a");
  job.Succeeds("b");
  ASSERT_TRUE(job.status().verdict.has_value());
  EXPECT_EQ(job.status().verdict->time.productive_s(), 10);
  EXPECT_EQ(job.status().verdict->time.losses().incidents, 0);
}

TEST(JobTime, TheFailureThatEndsTheJobIsCounted) {
  JobSpec spec = QuickSpec(2, 2);
  spec.max_restarts = 0;
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  job.Fails("b", ExitedWith(1, 3));
  job.Idle("a");
  job.Idle("b");
  ASSERT_TRUE(job.status().verdict.has_value());
  EXPECT_EQ(job.status().verdict->time.losses().incidents, 1);
}

TEST(JobTime, ANewCoordinatorWithTheRecordKnowsIt) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  Spend(&job, "b", 20);
  job.Fails("b", ExitedWith(1, 3));
  job.Idle("a");
  job.Idle("b");
  job.Runs("a");
  job.Runs("b");
  Spend(&job, "a", 10);
  Lose(&job, "a", 1, 4);
  Lose(&job, "b", 1, 6);
  job.Lose("b");
  job.ReplaceCoordinator();
  EXPECT_EQ(job.status().time.productive_s(), 20);
  job.Reconnect("a");
  EXPECT_EQ(job.status().time.productive_s(), 30);
  EXPECT_EQ(job.status().time.newest.at(0).cause, LossCause::kWorker);
  EXPECT_EQ(job.status().time.newest.at(0).pause_s(), 5);
  // Node b was lost under the earlier coordinator. When it returns, it reports
  // its total time again, which must not count twice.
  job.Reconnect("b");
  EXPECT_EQ(job.status().time.productive_s(), 30);
}

TEST(JobTime, ARecalledJobCountsANodesTimeOnce) {
  JobFixture job = JobFixture::HostedBy("a", QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  Spend(&job, "b", 20);
  job.Lose("b");
  JobFixture again = JobFixture::HostedBy("a", QuickSpec(1, 2));
  again.Recall(job.job().Record());
  EXPECT_EQ(again.status().time.productive_s(), 20);
  // The agent of b was not restarted. The agent reports its total time, 25 s,
  // of which 20 s are already in the record.
  Report& report = again.Create("b").report;
  report.node = job.agent("b").report.node;
  report.place_key = job.agent("b").report.place_key;
  report.sequence = job.agent("b").report.sequence;
  report.time.ledger[Activity::kProductive] = seconds(25);
  again.Join("b");
  ASSERT_THAT(again.status().nodes, SizeIs(1));
  EXPECT_EQ(again.status().time.productive_s(), 25);
}

TEST(JobTime, ANewCoordinatorWithoutItKnowsNoCause) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Fails("b", ExitedWith(1, 3));
  job.Idle("a");
  job.Idle("b");
  job.Runs("a");
  job.Runs("b");
  Lose(&job, "a", 1, 4);
  job.ReplaceCoordinatorAndRecord();
  job.Reconnect("a");
  job.Reconnect("b");
  ASSERT_THAT(job.status().time.newest, SizeIs(1));
  EXPECT_EQ(job.status().time.newest[0].cause, LossCause::kUnknown);
  EXPECT_EQ(job.status().time.newest[0].pause_s(), 4);
}

TEST(JobTime, ARoundKnowsTheHighestStepOfTheOnesBefore) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  EXPECT_EQ(job.told("a").place.reached_step, -1);
  job.agent("a").report.progress = {AtStep(7), AtStep(9), AtStep(8)};
  job.Report("a");
  job.agent("b").report.progress = {AtStep(5)};
  job.Fails("b", ExitedWith(1, 3));
  job.Idle("a");
  job.Idle("b");
  EXPECT_EQ(job.told("a").place.reached_step, 9);
  EXPECT_EQ(job.told("b").place.reached_step, 9);
}

TEST(JobTime, ANewCoordinatorKnowsTheStepsThatThePlacesName) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.ReplaceCoordinatorAndRecord();
  job.agent("b").report.place->reached_step = 9;
  job.Reconnect("a");
  job.Reconnect("b");
  job.Fails("b", ExitedWith(1, 3));
  job.Idle("a");
  job.Idle("b");
  ASSERT_EQ(job.told("a").place.round, 2);
  EXPECT_EQ(job.told("a").place.reached_step, 9);
}

TEST(JobTime, ASpareIsToldThatItWaitsForAPlace) {
  JobFixture job(QuickSpec(1, 1));
  job.Join("a");
  EXPECT_EQ(job.told("a").kind, DirectiveKind::kRun);
  job.Runs("a");
  job.Join("b");
  EXPECT_EQ(job.told("b").kind, DirectiveKind::kWait);
  EXPECT_EQ(job.told("b").waits_for, WaitsFor::kPlace);
  job.Fails("a", ExitedWith(0, 3));
  job.Report("b");
  EXPECT_EQ(job.told("b").waits_for, WaitsFor::kNodes);
}

}  // namespace
}  // namespace muster::rendezvous
