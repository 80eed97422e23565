// Level-triggered messages: repeating, dropping, and the number of messages;
// signals; a restarted coordinator.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "rendezvous/job/job_fixture.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(JobMessages, ADirectiveThatWasNotSeenIsSentAgain) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  job.agent("a").deaf = true;
  job.Join("b");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kWait);
  job.agent("a").deaf = false;
  job.Report("a");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kRun);
}

TEST(JobMessages, WhatWasSeenIsNotSentAgain) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Report("a");
  EXPECT_THAT(job.last_step().deliveries, IsEmpty());
  EXPECT_THAT(job.last_step().decisions, IsEmpty());
}

TEST(JobMessages, ANewStreamIsAlwaysAnswered) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  const Directive before = job.told("a");
  job.Reconnect("a");
  ASSERT_EQ(job.last_step().deliveries.size(), 1u);
  EXPECT_EQ(job.told("a").revision, before.revision);
  EXPECT_EQ(job.told("a").place.round, 1);
}

TEST(JobMessages, StaleReportsAreDropped) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  Report late = job.agent("a").report;
  late.phase = NodePhase::kIdle;
  // Repeats the last sequence number.
  job.Step(ReportArrived{job.agent("a").stream, late});
  --late.sequence;
  job.Step(ReportArrived{job.agent("a").stream, late});
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_THAT(job.last_step().deliveries, IsEmpty());
}

TEST(JobMessages, ANewerDirectiveHasAHigherRevision) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  uint64_t last = job.told("a").revision;
  EXPECT_EQ(job.told("a").epoch, 7u);
  EXPECT_GT(last, 0u);
  const auto expect_higher = [&] {
    EXPECT_GT(job.told("a").revision, last);
    last = job.told("a").revision;
  };
  job.Join("b");
  expect_higher();  // told to run
  job.Runs("a");
  job.Runs("b");
  job.Fails("b", ExitedWith(2, 1));
  expect_higher();  // told to stop
  job.Idle("a");
  job.Idle("b");
  expect_higher();  // told to run
  EXPECT_EQ(job.kind("a"), DirectiveKind::kRun);
}

TEST(JobMessages, AStopIsConfirmedByANodeThatNeverStarted) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  job.Join("b");
  job.Runs("a");
  job.agent("b").deaf = true;  // the order to stop does not reach b…
  job.Fails("a", ExitedWith(0, 1));
  job.Idle("a");
  job.Report("b");
  // …so b might still start round 1.
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.agent("b").deaf = false;
  job.Report("b");
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  EXPECT_EQ(job.kind("b"), DirectiveKind::kStop);
  job.Report("b");
  EXPECT_EQ(job.round(), 2);
}

TEST(JobMessages, NobodyIsToldTwiceInOneStep) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  job.Join("b");
  EXPECT_EQ(job.last_step().deliveries.size(), 2u);
  job.Runs("a");
  job.Runs("b");
  job.Fails("a", ExitedWith(0, 1));
  EXPECT_EQ(job.last_step().deliveries.size(), 2u);
}

TEST(JobMessages, CostOfAReportDoesNotGrowWithTheNodes) {
  constexpr int kNodes = 200;
  JobFixture job(QuickSpec(kNodes, kNodes));
  for (int i = 0; i < kNodes - 1; ++i) {
    job.Join(absl::StrCat("n", i));
    EXPECT_LE(job.last_step().deliveries.size(), 1u);
    EXPECT_LE(job.last_step().decisions.size(), 1u);
  }
  job.Join(absl::StrCat("n", kNodes - 1));
  // Each member gets kRun, and the last one a kWait before.
  EXPECT_LE(job.last_step().deliveries.size(), kNodes + 1u);
  for (int i = 0; i < kNodes; ++i) {
    job.Runs(absl::StrCat("n", i));
    EXPECT_THAT(job.last_step().deliveries, IsEmpty());
  }
  job.Fails("n7", ExitedWith(14, 1));
  EXPECT_LE(job.last_step().deliveries.size(), kNodes + 1u);
  for (int i = 0; i < kNodes - 1; ++i) {
    job.Idle(absl::StrCat("n", i));
    EXPECT_LE(job.last_step().deliveries.size(), 1u);
  }
}

TEST(JobSignals, GoToEveryMemberOnce) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b", "spare"});
  job.agent("a").report.signals = {{.ordinal = 1, .signal = 10}};
  job.Report("a");
  for (const char* name : {"a", "b"}) {
    ASSERT_EQ(job.kind(name), DirectiveKind::kRun);
    ASSERT_EQ(job.told(name).signals.size(), 1u);
    EXPECT_EQ(job.told(name).signals[0].ordinal, 1u);
    EXPECT_EQ(job.told(name).signals[0].signal, 10);
  }
  EXPECT_EQ(job.kind("spare"), DirectiveKind::kWait);
  job.Report("a");
  EXPECT_EQ(job.Count("signal"), 1);
  EXPECT_EQ(job.Decided("signal"), "SIGUSR1 at a goes to every worker");
}

TEST(JobSignals, OfSeveralNodesAreNumberedThrough) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.agent("a").report.signals = {{.ordinal = 1, .signal = 10}};
  job.Report("a");
  job.agent("b").report.signals = {{.ordinal = 1, .signal = 12}};
  job.Report("b");
  ASSERT_EQ(job.told("a").signals.size(), 2u);
  EXPECT_EQ(job.told("a").signals[1].ordinal, 2u);
  EXPECT_EQ(job.told("a").signals[1].signal, 12);
}

TEST(JobSignals, OnlyTheLastFewAreKept) {
  JobFixture job(QuickSpec(1, 1));
  job.StartAll({"a"});
  for (uint64_t i = 1; i <= 20; ++i) {
    job.agent("a").report.signals = {{.ordinal = i, .signal = 10}};
    job.Report("a");
  }
  ASSERT_EQ(job.told("a").signals.size(),
            static_cast<size_t>(kMaxSignalNotices));
  EXPECT_EQ(job.told("a").signals.back().ordinal, 20u);
}

TEST(JobSignals, DoNotReachTheNextRound) {
  JobFixture job(QuickSpec(1, 1));
  job.StartAll({"a"});
  job.agent("a").report.signals = {{.ordinal = 1, .signal = 10}};
  job.Report("a");
  job.Fails("a", ExitedWith(0, 1));
  job.agent("a").report.signals.push_back({.ordinal = 2, .signal = 12});
  job.Idle("a");
  ASSERT_EQ(job.round(), 2);
  EXPECT_THAT(job.told("a").signals, IsEmpty());
  job.Runs("a");
  EXPECT_EQ(job.Count("signal"), 1);
}

TEST(JobSignals, OfANodeThatComesBackAreNotSentAgain) {
  JobSpec spec = QuickSpec(1, 2);
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  job.agent("b").report.signals = {{.ordinal = 1, .signal = 10}};
  job.Report("b");
  job.BreakStream("b");
  job.Wait(milliseconds(500));
  job.Idle("a");
  ASSERT_EQ(job.round(), 2);
  job.Runs("a");
  job.Reconnect("b");
  EXPECT_EQ(job.Count("signal"), 1);
  EXPECT_THAT(job.told("a").signals, IsEmpty());
}

TEST(JobRestart, AgentsOfAnEarlierCoordinatorStopAndGoOnWithTheNextRound) {
  JobFixture job(QuickSpec(2, 2), 8);
  for (const char* name : {"a", "b"}) {
    Report& report = job.Create(name).report;
    report.round = 7;
    report.phase = NodePhase::kRunning;
    report.seen_epoch = 7;
    report.seen_revision = 55;
    job.Join(name);
    ASSERT_EQ(job.kind(name), DirectiveKind::kStop);
    EXPECT_EQ(job.told(name).stop.round, 7);
    EXPECT_EQ(job.told(name).reason,
              "the coordinator does not know it: it was started again");
    EXPECT_EQ(job.told(name).stop.grace, seconds(10));
  }
  job.Idle("a");
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Idle("b");
  EXPECT_EQ(job.told("a").place.round, 8);
  EXPECT_THAT(job.Decided("assign"), HasSubstr("round 8 begins"));
}

// b was lost while there was no coordinator.
TEST(JobRestart, TheVerdictCountsTheRoundsOfTheEarlierCoordinator) {
  JobFixture job(QuickSpec(2, 2), 8);
  Report& report = job.Create("a").report;
  report.round = 3;
  job.Join("a");
  job.Wait(seconds(120));
  ASSERT_EQ(job.phase(), JobPhase::kFinished);
  EXPECT_EQ(job.told("a").verdict.outcome, Outcome::kTimedOut);
  EXPECT_EQ(job.told("a").verdict.rounds, 3);
}

TEST(JobRestart, AClaimOfAHigherRoundDoesNotTouchTheOneThatRuns) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  const Directive before = job.told("a");
  Report& late = job.Create("late").report;
  late.round = 7;
  late.phase = NodePhase::kRunning;
  job.Join("late");
  EXPECT_EQ(job.kind("late"), DirectiveKind::kStop);
  EXPECT_EQ(job.told("late").stop.round, 7);
  job.Wait(seconds(10));
  EXPECT_EQ(job.round(), 1);
  EXPECT_EQ(job.told("a").revision, before.revision);
  job.Fails("a", ExitedWith(0, 1));
  job.AllStop();
  job.Idle("a");
  EXPECT_EQ(job.round(), 8);
}

}  // namespace
}  // namespace muster::rendezvous
