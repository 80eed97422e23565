#include "base/blocked_signals.h"

#include <signal.h>

#include <thread>

#include "gtest/gtest.h"

namespace muster {
namespace {

// Whether the calling thread blocks SIGUSR1.
bool IsBlocked() {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, SIGUSR1) == 1;
}

TEST(BlockedSignalsTest, AThreadStartedMeanwhileBlocksAndTheStarterDoesNot) {
  bool in_thread = false;
  std::thread thread;
  {
    const BlockedSignals blocked;
    EXPECT_TRUE(IsBlocked());
    thread = std::thread([&] { in_thread = IsBlocked(); });
  }
  EXPECT_FALSE(IsBlocked());
  thread.join();
  EXPECT_TRUE(in_thread);
}

TEST(BlockedSignalsTest, AThreadCanBlockForGood) {
  bool in_thread = false;
  std::thread thread([&] {
    BlockSignals();
    in_thread = IsBlocked();
  });
  thread.join();
  EXPECT_TRUE(in_thread);
  EXPECT_FALSE(IsBlocked());
}

}  // namespace
}  // namespace muster
