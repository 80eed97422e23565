#include "agent/lifecycle/agent_policy.h"

#include <gtest/gtest.h>

#include <csignal>

namespace muster::agent {
namespace {

TEST(EndingSignals, TheUsualOnesEndTheJob) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    EXPECT_TRUE(EndsJob(signal, {}, {}, {})) << signal;
  }
  EXPECT_FALSE(EndsJob(SIGUSR1, {}, {}, {}));
  EXPECT_FALSE(EndsJob(SIGTSTP, {}, {}, {}));
}

TEST(EndingSignals, HandledSignalEndsTheJobUnlessForwarded) {
  EXPECT_TRUE(EndsJob(SIGUSR1, {SIGTERM, SIGUSR1}, {SIGUSR2}, {}));
  EXPECT_FALSE(EndsJob(SIGUSR2, {SIGTERM, SIGUSR2}, {SIGUSR2}, {}));
  EXPECT_FALSE(EndsJob(SIGHUP, {}, {SIGHUP}, {}));
}

TEST(EndingSignals, APreemptionEndsTheJobWhateverElseItsSignalIs) {
  EXPECT_TRUE(EndsJob(SIGUSR1, {}, {SIGUSR1}, {SIGUSR1}));
}

}  // namespace
}  // namespace muster::agent
