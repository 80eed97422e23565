#include "base/ignored_signals.h"

#include <gtest/gtest.h>

#include <csignal>

namespace muster {
namespace {

TEST(IgnoredSignals, OnlyThoseThatTheProcessIgnoresCount) {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  signal(SIGHUP, SIG_IGN);
  signal(SIGQUIT, SIG_IGN);
  EXPECT_TRUE(IsIgnored(SIGHUP));
  EXPECT_FALSE(IsIgnored(SIGTERM));
  EXPECT_EQ(WithoutIgnored({SIGTERM, SIGHUP, SIGINT, SIGQUIT}),
            (std::vector<int>{SIGTERM, SIGINT}));
  EXPECT_EQ(IgnoredSignals(),
            uint64_t{1} << (SIGHUP - 1) | uint64_t{1} << (SIGQUIT - 1));
}

TEST(IgnoredSignals, ThoseThatRuntimesIgnoreForThemselvesNeverCount) {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  for (const int number : {SIGPIPE, SIGXFSZ, SIGCHLD}) signal(number, SIG_IGN);
  EXPECT_EQ(IgnoredSignals(), 0u);
}

// SIGRTMAX (64), the highest signal, is the highest bit of IgnoredSignals().
TEST(IgnoredSignals, RealTimeSignalsCount) {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  signal(SIGRTMAX, SIG_IGN);
  EXPECT_EQ(IgnoredSignals(), uint64_t{1} << (SIGRTMAX - 1));
}

}  // namespace
}  // namespace muster
