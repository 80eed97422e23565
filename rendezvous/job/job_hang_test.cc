// Hangs: which of several silent workers is blamed. Also the workers' progress,
// which changes no decision.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "rendezvous/job/job_fixture.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Failure Hung(int rank, Duration silent_for) {
  Failure failure;
  failure.kind = FailureKind::kHung;
  failure.rank = rank;
  failure.local_rank = rank % 2;
  failure.message = "hung: silent for a while";
  failure.silent_for = silent_for;
  failure.stack = {"main (train.py:7)"};
  return failure;
}

class JobHang : public ::testing::Test {
 protected:
  explicit JobHang(int max_restarts = 0)
      : job_([&] {
          JobSpec spec = QuickSpec(2, 2);
          spec.max_restarts = max_restarts;
          return spec;
        }()) {
    job_.StartAll({"a", "b"});
    job_.Wait(seconds(40));
  }
  void AllIdle() {
    job_.Idle("a");
    job_.Idle("b");
  }

  JobFixture job_;
};

class JobHangWithABudget : public JobHang {
 protected:
  JobHangWithABudget() : JobHang(/*max_restarts=*/1) {}
};

TEST_F(JobHang, IsAFailureOfItsWorker) {
  job_.Fails("a", Hung(0, seconds(30)));
  EXPECT_EQ(job_.Decided("break"),
            "round 1 is broken: rank 0 on a: hung: silent for a while");
  EXPECT_EQ(job_.kind("b"), DirectiveKind::kStop);
  AllIdle();
  const Verdict& verdict = job_.told("b").verdict;
  EXPECT_EQ(verdict.outcome, Outcome::kFailed);
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_EQ(verdict.cause->kind, FailureKind::kHung);
  EXPECT_EQ(verdict.cause->stack.size(), 1u);
}

TEST_F(JobHangWithABudget, SpendsARestart) {
  job_.Fails("a", Hung(0, seconds(30)));
  AllIdle();
  EXPECT_EQ(job_.round(), 2);
  EXPECT_EQ(job_.status().restarts_used, 1);
}

TEST_F(JobHang, TheOneThatFellSilentFirstIsBlamedWhoeverTellsFirst) {
  job_.Fails("a", Hung(0, seconds(30)));
  job_.Wait(milliseconds(500));
  // Silent since half a second before a's worker.
  job_.Fails("b", Hung(2, seconds(31)));
  EXPECT_THAT(job_.Decided("hang"),
              HasSubstr("broke because rank 2 on b: hung: silent for a while, "
                        "which fell silent first; not by rank 0 on a"));
  AllIdle();
  const Verdict& verdict = job_.told("a").verdict;
  EXPECT_EQ(verdict.cause->rank, 2);
  EXPECT_EQ(verdict.reason, "rank 2 on b: hung: silent for a while");
  ASSERT_EQ(verdict.collateral.size(), 1u);
  EXPECT_EQ(verdict.collateral[0].rank, 0);
  EXPECT_THAT(verdict.collateral[0].stack, IsEmpty());
}

TEST_F(JobHangWithABudget, ABlameThatMovesSpendsOneRestartOnly) {
  job_.Fails("a", Hung(0, seconds(30)));
  job_.Fails("b", Hung(2, seconds(31)));
  AllIdle();
  EXPECT_EQ(job_.round(), 2);
  EXPECT_EQ(job_.status().restarts_used, 1);
}

TEST_F(JobHangWithABudget, ABlameThatMovesLeavesACancelItsReason) {
  job_.Fails("a", Hung(0, seconds(30)));
  job_.Step(CancelAsked{"by root"});
  job_.Fails("b", Hung(2, seconds(31)));
  EXPECT_EQ(job_.Count("hang"), 1);
  AllIdle();
  EXPECT_EQ(job_.told("a").verdict.reason, "cancelled: by root");
}

TEST_F(JobHang, OneThatFellSilentLaterIsAVictim) {
  job_.Fails("a", Hung(0, seconds(30)));
  job_.Wait(milliseconds(500));
  job_.Fails("b", Hung(2, seconds(30)));
  EXPECT_EQ(job_.Count("hang"), 0);
  AllIdle();
  EXPECT_EQ(job_.told("a").verdict.cause->rank, 0);
  EXPECT_EQ(job_.told("a").verdict.collateral.size(), 1u);
}

TEST_F(JobHang, AStoppedOneIsBlamedThoughItFellSilentLater) {
  Failure stopped = Hung(2, seconds(29));
  stopped.signal = SIGSTOP;
  job_.Fails("a", Hung(0, seconds(30)));
  job_.Fails("b", stopped);
  EXPECT_THAT(job_.Decided("hang"),
              HasSubstr(", which is stopped; not by rank 0 on a"));
  AllIdle();
  EXPECT_EQ(job_.told("a").verdict.cause->rank, 2);
  EXPECT_EQ(job_.told("a").verdict.reason,
            "rank 2 on b: hung: silent for a while");
}

TEST_F(JobHang, OnlyAnotherStoppedOneThatFellSilentBeforeTakesItsPlace) {
  for (const bool stopped : {false, true}) {
    JobFixture job(QuickSpec(2, 2));
    job.StartAll({"a", "b"});
    job.Wait(seconds(40));
    Failure first = Hung(0, seconds(30));
    first.signal = SIGSTOP;
    Failure second = Hung(2, seconds(31));
    if (stopped) second.signal = SIGSTOP;
    job.Fails("a", first);
    job.Fails("b", second);
    EXPECT_EQ(job.Count("hang"), stopped ? 1 : 0);
  }
}

TEST_F(JobHang, OthersThatFellSilentTogetherWithItAreTold) {
  // b's workers: one that fell silent a second later, one that still reports,
  // and one that has ended.
  job_.agent("b").report.progress = {
      {.silent_for = seconds(29), .deadline = seconds(30)},
      {.silent_for = seconds(2), .deadline = seconds(30)},
      {.silent_for = seconds(30)}};
  job_.Report("b");
  job_.Fails("a", Hung(0, seconds(30)));
  const std::string why =
      "rank 0 on a: hung: silent for a while; 1 rank of other nodes fell "
      "silent together with it, and the first need not be the cause: `launch "
      "inspect` shows who waited for whom";
  EXPECT_EQ(job_.Decided("break"), "round 1 is broken: " + why);
  AllIdle();
  EXPECT_EQ(job_.told("b").verdict.reason, why);
}

TEST_F(JobHang, NobodyElsesSilenceRaisesADoubtAboutAStoppedOne) {
  job_.agent("b").report.progress = {
      {.silent_for = seconds(30), .deadline = seconds(30)}};
  job_.Report("b");
  Failure stopped = Hung(0, seconds(30));
  stopped.signal = SIGSTOP;
  job_.Fails("a", stopped);
  EXPECT_EQ(job_.Decided("break"),
            "round 1 is broken: rank 0 on a: hung: silent for a while");
}

TEST_F(JobHang, ACrashIsNotBlamedOnAHang) {
  job_.Fails("a", ExitedWith(0, 3));
  job_.Fails("b", Hung(2, seconds(31)));
  AllIdle();
  EXPECT_EQ(job_.told("a").verdict.exit_code, 3);
  EXPECT_EQ(job_.Count("hang"), 0);
}

TEST_F(JobHang, NorAHangOnACrashThatFollows) {
  job_.Fails("a", Hung(0, seconds(30)));
  job_.Fails("b", ExitedWith(2, 3));
  AllIdle();
  EXPECT_EQ(job_.told("a").verdict.cause->rank, 0);
}

TEST_F(JobHang, SilenceInTheFutureIsNone) {
  job_.Fails("a", Hung(0, -seconds(30)));
  job_.Fails("b", Hung(2, Duration::zero()));
  EXPECT_EQ(job_.Count("hang"), 0);
}

TEST_F(JobHang, ANodeThatIsLostIsBlamedBeforeAWorkerThatWaitedForIt) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.BreakStream("b");
  job.Fails("a", Hung(0, seconds(30)));
  job.Idle("a");
  job.Wait(milliseconds(500));
  EXPECT_EQ(job.Count("blame"), 1);
}

TEST_F(JobHang, ProgressIsKeptAndChangesNothing) {
  job_.agent("b").report.progress = {
      {.local_rank = 1, .step = 7, .silent_for = seconds(1)}};
  job_.Report("b");
  EXPECT_THAT(job_.last_step().deliveries, IsEmpty());
  EXPECT_THAT(job_.last_step().decisions, IsEmpty());
  const std::vector<NodeStatus> nodes =
      job_.job().Status(job_.now() + seconds(2)).nodes;
  EXPECT_THAT(nodes[0].progress, IsEmpty());
  ASSERT_EQ(nodes[1].progress.size(), 1u);
  EXPECT_EQ(nodes[1].progress[0].step, 7);
  // The silence when it was reported plus the time since.
  EXPECT_EQ(nodes[1].progress[0].silent_for, seconds(3));
  job_.agent("b").report.progress[0].step = 8;
  job_.Report("b");
  EXPECT_EQ(job_.status().nodes[1].progress[0].step, 8);
}

TEST_F(JobHangWithABudget, ProgressOfAnEarlierRoundIsNotShown) {
  job_.agent("b").report.progress = {{.local_rank = 1, .step = 7}};
  job_.Report("b");
  job_.Fails("a", ExitedWith(0, 3));
  AllIdle();
  ASSERT_EQ(job_.round(), 2);
  EXPECT_THAT(job_.status().nodes[1].progress, IsEmpty());
}

TEST_F(JobHang, MembersAreToldOfALikelierCause) {
  job_.Fails("a", Hung(0, seconds(20)));
  const uint64_t revision = job_.told("b").revision;
  EXPECT_THAT(job_.told("b").reason, HasSubstr("rank 0 on a"));
  job_.Fails("b", Hung(2, seconds(30)));
  EXPECT_THAT(job_.told("a").reason, HasSubstr("rank 2 on b"));
  EXPECT_THAT(job_.told("b").reason, HasSubstr("rank 2 on b"));
  EXPECT_EQ(job_.told("b").kind, DirectiveKind::kStop);
  EXPECT_EQ(job_.told("b").revision, revision) << "it is the same order";
}

}  // namespace
}  // namespace muster::rendezvous
