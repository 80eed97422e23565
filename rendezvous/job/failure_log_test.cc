#include "rendezvous/job/failure_log.h"

#include <gtest/gtest.h>

namespace muster::rendezvous {
namespace {

Failure Of(FailureKind kind, int rank) {
  Failure failure;
  failure.kind = kind;
  failure.rank = rank;
  failure.traceback = "Traceback";
  failure.stderr_tail = {"last words"};
  return failure;
}

TEST(FailureLog, FirstHeardIsTheCauseWhateverItsClockSays) {
  FailureLog log;
  Failure late_clock = Of(FailureKind::kExitCode, 3);
  late_clock.unix_time = 2000;
  log.Add(late_clock);
  Failure early_clock = Of(FailureKind::kSignal, 1);
  early_clock.unix_time = 1000;
  log.Add(early_clock);

  Verdict verdict;
  log.Tell(verdict);
  ASSERT_TRUE(verdict.cause.has_value());
  EXPECT_EQ(verdict.cause->rank, 3);
  EXPECT_EQ(verdict.cause->traceback, "Traceback");
  ASSERT_EQ(verdict.collateral.size(), 1u);
  EXPECT_EQ(verdict.collateral[0].rank, 1);
}

TEST(FailureLog, WhatWeStoppedIsNeverTheCause) {
  FailureLog log;
  log.Add(Of(FailureKind::kStoppedByUs, 0));
  EXPECT_FALSE(log.cause().has_value());
  log.Add(Of(FailureKind::kNodeLost, -1));
  ASSERT_TRUE(log.cause().has_value());
  EXPECT_EQ(log.cause()->kind, FailureKind::kNodeLost);
}

TEST(FailureLog, CollateralIsBoundedAndSaysHowMuchIsLeftOut) {
  FailureLog log;
  for (int rank = 0; rank < kMaxCollateral + 4; ++rank) {
    log.Add(Of(FailureKind::kExitCode, rank));
  }
  Verdict verdict;
  log.Tell(verdict);
  EXPECT_EQ(verdict.collateral.size(), static_cast<size_t>(kMaxCollateral));
  EXPECT_EQ(verdict.collateral_omitted, 3);
  EXPECT_EQ(verdict.collateral[0].rank, 1);
  EXPECT_TRUE(verdict.collateral[0].traceback.empty());
  EXPECT_TRUE(verdict.collateral[0].stderr_tail.empty());
}

TEST(FailureLog, ClearForgetsAll) {
  FailureLog log;
  for (int rank = 0; rank < kMaxCollateral + 4; ++rank) {
    log.Add(Of(FailureKind::kExitCode, rank));
  }
  log.Clear();
  Verdict verdict;
  log.Tell(verdict);
  EXPECT_FALSE(verdict.cause.has_value());
  EXPECT_TRUE(verdict.collateral.empty());
  EXPECT_EQ(verdict.collateral_omitted, 0);
}

TEST(ExitCodeOf, IsTheCauses) {
  Failure failure = Of(FailureKind::kExitCode, 0);
  failure.exit_code = 3;
  EXPECT_EQ(ExitCodeOf(failure), 3);
  // Only a preempted job may end with kPreemptedExitCode.
  failure.exit_code = kPreemptedExitCode;
  EXPECT_EQ(ExitCodeOf(failure), 1);
  failure.exit_code = 0;
  EXPECT_EQ(ExitCodeOf(failure), 1);
  failure.kind = FailureKind::kStartFailed;
  failure.exit_code = 127;
  EXPECT_EQ(ExitCodeOf(failure), 127);
  failure.kind = FailureKind::kSignal;
  failure.signal = 9;
  EXPECT_EQ(ExitCodeOf(failure), 137);
  failure.kind = FailureKind::kNodeLost;
  EXPECT_EQ(ExitCodeOf(failure), 1);
  failure.kind = FailureKind::kStoppedByUs;
  EXPECT_EQ(ExitCodeOf(failure), 1);
}

}  // namespace
}  // namespace muster::rendezvous
