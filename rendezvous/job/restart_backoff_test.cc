#include "rendezvous/job/restart_backoff.h"

#include <gtest/gtest.h>

#include <set>

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using End = RestartBackoff::End;

RestartBackoff After(int failures) {
  RestartBackoff backoff;
  for (int i = 0; i < failures; ++i) {
    backoff.RoundEnded(End::kFailure, seconds(1));
  }
  return backoff;
}

TEST(RestartBackoff, TheFirstRestartsFollowAtOnce) {
  for (int failures : {0, 1, 2}) {
    EXPECT_EQ(After(failures).Delay("tag", 1), Duration::zero()) << failures;
  }
  EXPECT_GT(After(3).Delay("tag", 1), Duration::zero());
}

TEST(RestartBackoff, TheDelayDoublesUpToThirtySeconds) {
  Duration whole = milliseconds(500);
  for (int failures = 3; failures < 12; ++failures) {
    for (int round = 1; round < 100; ++round) {
      const Duration delay = After(failures).Delay("tag", round);
      EXPECT_GE(delay, whole / 2) << failures;
      EXPECT_LE(delay, whole) << failures;
    }
    whole = std::min<Duration>(2 * whole, seconds(30));
  }
  EXPECT_LE(After(1'000'000).Delay("tag", 1), seconds(30));
}

TEST(RestartBackoff, TheJitterDiffersByRunAndRound) {
  std::set<Duration> delays;
  for (const char* tag : {"one", "two", "three"}) {
    for (int round : {1, 2, 3}) delays.insert(After(9).Delay(tag, round));
  }
  EXPECT_EQ(delays.size(), 9u);
  EXPECT_EQ(After(9).Delay("one", 1), After(9).Delay("one", 1));
}

TEST(RestartBackoff, AHealthyRoundEndsTheRow) {
  RestartBackoff backoff = After(8);
  backoff.RoundEnded(End::kFailure, seconds(30));
  EXPECT_EQ(backoff.failures(), 1);
  EXPECT_EQ(backoff.Delay("tag", 9), Duration::zero());
  backoff = After(8);
  backoff.RoundEnded(End::kFailure, seconds(30) - milliseconds(1));
  EXPECT_EQ(backoff.failures(), 9);
}

TEST(RestartBackoff, AChangeOfMembershipIsNoFailure) {
  RestartBackoff backoff = After(3);
  backoff.RoundEnded(End::kOther, seconds(1));
  EXPECT_EQ(backoff.failures(), 3);
  backoff.RoundEnded(End::kOther, seconds(30));
  EXPECT_EQ(backoff.failures(), 0);
}

}  // namespace
}  // namespace muster::rendezvous
