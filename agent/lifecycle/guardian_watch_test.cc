#include "agent/lifecycle/guardian_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace muster::agent {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class GuardianWatchTest : public ::testing::Test {
 protected:
  // Lets `time` pass, and calls GuardianWatch::Look whenever it is due. Returns
  // whether Look has found the guardian unresponsive.
  bool Wait(Duration time) {
    const Instant end = now_ + time;
    bool found = false;
    while (watch_.NextLook().value_or(Instant::max()) <= end) {
      now_ = *watch_.NextLook();
      found = watch_.Look(now_) || found;
    }
    now_ = end;
    return found;
  }

  Instant now_{hours(1)};
  GuardianWatch watch_{now_};
};

TEST_F(GuardianWatchTest, SignsOfLifeKeepTheGuardian) {
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(Wait(kGuardianSignEvery));
    watch_.Heard(now_);
  }
}

TEST_F(GuardianWatchTest, SilenceForTheDeadlineIsNoticedOnce) {
  EXPECT_FALSE(Wait(seconds(9)));
  EXPECT_TRUE(Wait(seconds(1)));
  EXPECT_EQ(watch_.NextLook(), std::nullopt);
  EXPECT_FALSE(watch_.Look(now_ + hours(1)));
}

TEST_F(GuardianWatchTest, ASignBeginsTheDeadlineAnew) {
  EXPECT_FALSE(Wait(seconds(9)));
  watch_.Heard(now_);
  EXPECT_FALSE(Wait(seconds(9)));
  EXPECT_TRUE(Wait(seconds(1)));
}

// The agent does not run for eight hours, for instance because the machine is
// suspended. This time does not count as the guardian's silence.
TEST_F(GuardianWatchTest, TimeInWhichTheAgentStoodStillDoesNotCount) {
  EXPECT_FALSE(Wait(seconds(2)));
  now_ += hours(8);
  EXPECT_FALSE(watch_.Look(now_));
  EXPECT_FALSE(Wait(seconds(4)));
  EXPECT_TRUE(Wait(seconds(4)));
}

// If Look is called more often than required, the guardian still counts as
// unresponsive after the same time, 10 s without a sign of life.
TEST_F(GuardianWatchTest, FrequentLooksCountTheSameTime) {
  for (int i = 0; i < 999; ++i) {
    now_ += milliseconds(10);
    ASSERT_FALSE(watch_.Look(now_)) << i;
  }
  EXPECT_TRUE(watch_.Look(now_ + milliseconds(10)));
}

TEST(GuardianWatch, AnAgentThatLooksInTimeMissesNoTime) {
  EXPECT_LE(GuardianWatch::kLookEvery, GuardianWatch::kMaxGap);
  EXPECT_LT(kGuardianSignEvery, GuardianWatch::kLookEvery);
}

}  // namespace
}  // namespace muster::agent
