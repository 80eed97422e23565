#include "agent/lifecycle/health_watch.h"

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr Instant kNow{hours(1)};

TEST(HealthWatch, WithoutChecksANodeIsFit) {
  HealthWatch watch(std::nullopt);
  EXPECT_EQ(watch.health(), rendezvous::Health::kHealthy);
  EXPECT_FALSE(watch.Due(kNow).has_value());
  watch.RoundEnded();
  EXPECT_EQ(watch.health(), rendezvous::Health::kHealthy);
}

TEST(HealthWatch, TheFirstCheckIsDueAtOnceAndOnce) {
  HealthWatch watch(seconds(30));
  EXPECT_EQ(watch.health(), rendezvous::Health::kUnchecked);
  const auto check = watch.Due(kNow);
  ASSERT_TRUE(check.has_value());
  EXPECT_FALSE(watch.Due(kNow + hours(1)).has_value());
  EXPECT_FALSE(watch.NextCheck().has_value());
  EXPECT_TRUE(watch.Found(kNow, *check, ""));
  EXPECT_EQ(watch.health(), rendezvous::Health::kHealthy);
}

TEST(HealthWatch, AWaitingNodeIsLookedAtAgainAndAgain) {
  HealthWatch watch(seconds(30));
  EXPECT_TRUE(watch.Found(kNow, *watch.Due(kNow), "no disk"));
  EXPECT_EQ(watch.health(), rendezvous::Health::kUnhealthy);
  EXPECT_EQ(watch.unhealthy(), "no disk");
  EXPECT_EQ(watch.NextCheck(), kNow + seconds(30));
  EXPECT_FALSE(watch.Due(kNow + seconds(29)).has_value());
  const auto again = watch.Due(kNow + seconds(30));
  ASSERT_TRUE(again.has_value());
  // Until the second check ends, the result of the first one remains valid.
  EXPECT_EQ(watch.health(), rendezvous::Health::kUnhealthy);
  EXPECT_TRUE(watch.Found(kNow + seconds(31), *again, ""));
  EXPECT_EQ(watch.health(), rendezvous::Health::kHealthy);
  EXPECT_EQ(watch.unhealthy(), "");
  // The node was healthy and now has no GPU. Found returns true, because the
  // node's health has changed.
  EXPECT_TRUE(watch.Found(kNow + seconds(61), *watch.Due(kNow + seconds(61)),
                          "no GPU"));
}

TEST(HealthWatch, TheSameAnswerChangesNothing) {
  HealthWatch watch(seconds(30));
  watch.Found(kNow, *watch.Due(kNow), "no disk");
  EXPECT_FALSE(watch.Found(kNow + seconds(30), *watch.Due(kNow + seconds(30)),
                           "no disk"));
}

TEST(HealthWatch, ARoundIsLeftAloneAndMustBeFollowedByACheck) {
  HealthWatch watch(seconds(30));
  watch.Found(kNow, *watch.Due(kNow), "");
  EXPECT_FALSE(watch.RoundBegan()) << "nothing is under way";
  EXPECT_FALSE(watch.Due(kNow + hours(1)).has_value());
  EXPECT_FALSE(watch.NextCheck().has_value());
  watch.RoundEnded();
  EXPECT_EQ(watch.health(), rendezvous::Health::kUnchecked);
  EXPECT_TRUE(watch.Due(kNow + hours(1)).has_value());
}

TEST(HealthWatch, ADroppedCheckSaysNothing) {
  HealthWatch watch(seconds(30));
  const auto dropped = watch.Due(kNow);
  EXPECT_TRUE(watch.RoundBegan());
  EXPECT_FALSE(watch.Found(kNow, *dropped, "no disk"));
  watch.RoundEnded();
  const auto check = watch.Due(kNow);
  ASSERT_TRUE(check.has_value());
  EXPECT_FALSE(watch.Found(kNow, *dropped, "no disk"));
  EXPECT_EQ(watch.health(), rendezvous::Health::kUnchecked);
  EXPECT_TRUE(watch.Found(kNow, *check, ""));
}

TEST(HealthWatch, StoppedOneMakesNoCheckAfterTheRound) {
  HealthWatch watch(seconds(30));
  const auto cancelled = watch.Due(kNow);
  EXPECT_TRUE(watch.Stop());
  EXPECT_FALSE(watch.Stop()) << "nothing is under way";
  EXPECT_FALSE(watch.Found(kNow, *cancelled, "no disk"));
  watch.RoundBegan();
  watch.RoundEnded();
  EXPECT_FALSE(watch.Due(kNow + hours(1)).has_value());
  EXPECT_FALSE(watch.NextCheck().has_value());
}

}  // namespace
}  // namespace muster::agent
