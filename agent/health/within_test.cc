#include "agent/health/within.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <vector>

namespace muster::agent {
namespace {

TEST(Within, ResultInTimeIsReturned) {
  const auto answer =
      Within<int>(MonotonicNow() + std::chrono::seconds(60), [] { return 42; });
  EXPECT_EQ(answer, 42);
}

TEST(Within, SignalsAreNotHandledInItsThread) {
  const auto mask =
      Within<sigset_t>(MonotonicNow() + std::chrono::seconds(60), [] {
        sigset_t blocked;
        pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
        return blocked;
      });
  ASSERT_TRUE(mask.has_value());
  EXPECT_EQ(sigismember(&*mask, SIGTERM), 1);
  sigset_t own;
  pthread_sigmask(SIG_SETMASK, nullptr, &own);
  EXPECT_EQ(sigismember(&own, SIGTERM), 0);
}

// Within is called 100 times with a function that hangs. Every call returns
// without a result, and at most 32 of the functions are started.
TEST(Within, HangingCallsAreAbandonedAndBounded) {
  auto never = std::make_shared<std::promise<void>>();
  auto begun = std::make_shared<std::atomic<int>>(0);
  auto ended = std::make_shared<std::atomic<int>>(0);
  const std::shared_future<void> released = never->get_future().share();
  const auto hang = [released, begun, ended] {
    ++*begun;
    released.wait();
    ++*ended;
    return 1;
  };
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Within<int>(MonotonicNow(), hang), std::nullopt);
  }
  never->set_value();
  // Once the stuck calls have returned, Within starts new calls.
  std::optional<int> answer;
  const Instant deadline = MonotonicNow() + std::chrono::seconds(60);
  while (!answer && MonotonicNow() < deadline) {
    answer = Within<int>(deadline, [] { return 2; });
  }
  EXPECT_EQ(answer, 2);
  EXPECT_LE(*begun, 32);
}

}  // namespace
}  // namespace muster::agent
