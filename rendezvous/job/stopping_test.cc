#include "rendezvous/job/stopping.h"

#include <gtest/gtest.h>

#include <chrono>

namespace muster::rendezvous {
namespace {

using Cause = Consequence::Cause;
using std::chrono::seconds;

Verdict Of(Outcome outcome, int exit_code) {
  Verdict verdict;
  verdict.outcome = outcome;
  verdict.exit_code = exit_code;
  return verdict;
}

int ExitCode(const Consequence& consequence) {
  return consequence.verdict().has_value() ? consequence.verdict()->exit_code
                                           : -1;
}

TEST(Consequence, ARestartIsGivenBackOnce) {
  Consequence consequence = Consequence::Restart();
  EXPECT_TRUE(consequence.IsFailure());
  EXPECT_EQ(consequence.Withdraw(), 1);
  EXPECT_FALSE(consequence.IsFailure());
  EXPECT_EQ(consequence.Withdraw(), 0);
  EXPECT_FALSE(consequence.verdict().has_value());
}

TEST(Consequence, AFailureThatIsWithdrawnEndsNothing) {
  Consequence consequence = Consequence::End(Of(Outcome::kFailed, 7));
  EXPECT_TRUE(consequence.IsFailure());
  EXPECT_EQ(ExitCode(consequence), 7);
  EXPECT_EQ(consequence.Withdraw(), 0);
  EXPECT_FALSE(consequence.verdict().has_value());
}

TEST(Consequence, ACancelIsNoFailure) {
  EXPECT_FALSE(Consequence::End(Of(Outcome::kCancelled, 130)).IsFailure());
  EXPECT_FALSE(Consequence().IsFailure());
}

TEST(Consequence, ACancelEndsTheJobInsteadOfANewRound) {
  Consequence consequence;
  EXPECT_TRUE(consequence.Cancel(Of(Outcome::kCancelled, 130), Cause::kFinal));
  EXPECT_EQ(ExitCode(consequence), 130);
  EXPECT_FALSE(consequence.Cancel(Of(Outcome::kCancelled, 143), Cause::kFinal));
  EXPECT_EQ(ExitCode(consequence), 130);
}

TEST(Consequence, ACancelFollowsAFailureThatIsWithdrawn) {
  Consequence consequence = Consequence::End(Of(Outcome::kFailed, 7));
  const Verdict cancel = Of(Outcome::kCancelled, 130);
  EXPECT_TRUE(consequence.Cancel(cancel, Cause::kProvisional));
  EXPECT_EQ(ExitCode(consequence), 7);
  EXPECT_FALSE(consequence.Cancel(cancel, Cause::kProvisional));
  consequence.Withdraw();
  EXPECT_EQ(ExitCode(consequence), 130);
}

TEST(Consequence, ACancelDoesNotReplaceAFinalVerdict) {
  Consequence consequence = Consequence::End(Of(Outcome::kFailed, 7));
  EXPECT_FALSE(consequence.Cancel(Of(Outcome::kCancelled, 130), Cause::kFinal));
  EXPECT_EQ(ExitCode(consequence), 7);
}

TEST(Consequence, OnlyAFailuresVerdictIsReplaced) {
  Consequence failure = Consequence::End(Of(Outcome::kFailed, 7));
  failure.Replace("another", 9);
  EXPECT_EQ(ExitCode(failure), 9);
  EXPECT_EQ(failure.verdict()->reason, "another");
  Consequence cancel = Consequence::End(Of(Outcome::kCancelled, 130));
  cancel.Replace("another", 9);
  EXPECT_EQ(ExitCode(cancel), 130);
  Consequence restart = Consequence::Restart();
  restart.Replace("another", 9);
  EXPECT_FALSE(restart.verdict().has_value());
}

TEST(StoppingTest, TheGraceAndTheMarginLimitTheStop) {
  Stopping stopping;
  stopping.Limit(Instant(seconds(100)), seconds(10));
  EXPECT_EQ(stopping.deadline, Instant(seconds(115)));
}

TEST(StoppingTest, AtOnceThereIsNoGrace) {
  Stopping stopping{.at_once = true};
  stopping.Limit(Instant(seconds(100)), seconds(10));
  EXPECT_EQ(stopping.deadline, Instant(seconds(105)));
}

TEST(StoppingTest, HurryShortensTheGraceOnce) {
  Stopping stopping;
  stopping.Limit(Instant(seconds(100)), seconds(10));
  EXPECT_TRUE(stopping.Hurry(Instant(seconds(102))));
  EXPECT_TRUE(stopping.at_once);
  EXPECT_EQ(stopping.deadline, Instant(seconds(107)));
  EXPECT_FALSE(stopping.Hurry(Instant(seconds(101))));
  EXPECT_EQ(stopping.deadline, Instant(seconds(107)));
}

TEST(StoppingTest, HurryNeverPostponesTheDeadline) {
  Stopping stopping;
  stopping.Limit(Instant(seconds(100)), seconds(10));
  stopping.Hurry(Instant(seconds(114)));
  EXPECT_EQ(stopping.deadline, Instant(seconds(115)));
}

}  // namespace
}  // namespace muster::rendezvous
