#include "launcher/slurm/signal_retries.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>

namespace muster::launcher {
namespace {

using Failure = SignalRetries::Failure;

constexpr Instant kBegin{std::chrono::seconds(100)};
constexpr Instant kRetry = kBegin + SignalRetries::kPause;
constexpr Duration kMoment = std::chrono::milliseconds(1);

TEST(SignalRetriesTest, ASignalIsSentAgainOnce) {
  SignalRetries retries;
  EXPECT_FALSE(retries.Next().has_value());
  EXPECT_EQ(retries.Failed(SIGTERM, kBegin, kBegin), Failure::kFirst);
  ASSERT_TRUE(retries.Next().has_value());
  EXPECT_EQ(retries.Next()->signal, SIGTERM);
  EXPECT_EQ(retries.Next()->at, kRetry);
  EXPECT_EQ(retries.Failed(SIGTERM, kRetry, kRetry), Failure::kFinal);
  EXPECT_FALSE(retries.Next().has_value());
  EXPECT_EQ(retries.Failed(SIGTERM, kRetry, kRetry), Failure::kFirst);
}

TEST(SignalRetriesTest, ASecondFailureDuringThePauseIsNotTheRetry) {
  SignalRetries retries;
  retries.Failed(SIGTERM, kBegin, kBegin);
  EXPECT_EQ(retries.Failed(SIGTERM, kRetry - kMoment, kRetry + kMoment),
            Failure::kFirst);
  ASSERT_TRUE(retries.Next().has_value());
  EXPECT_EQ(retries.Next()->at, kRetry);
}

TEST(SignalRetriesTest, ASignalThatArrivesMeanwhileNeedsNoRetry) {
  SignalRetries retries;
  retries.Failed(SIGTERM, kBegin, kBegin);
  retries.Sent(SIGTERM);
  EXPECT_FALSE(retries.Next().has_value());
}

TEST(SignalRetriesTest, TheEarliestRetryIsNext) {
  SignalRetries retries;
  retries.Failed(SIGTERM, kBegin, kBegin);
  retries.Failed(SIGHUP, kBegin + kMoment, kBegin + kMoment);
  ASSERT_TRUE(retries.Next().has_value());
  EXPECT_EQ(retries.Next()->signal, SIGTERM);
  retries.Sent(SIGTERM);
  ASSERT_TRUE(retries.Next().has_value());
  EXPECT_EQ(retries.Next()->signal, SIGHUP);
}

}  // namespace
}  // namespace muster::launcher
