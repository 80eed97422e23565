#include "agent/lifecycle/fitness_watch.h"

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr Instant kNow{hours(1)};

TEST(FitnessWatch, WithoutChecksANodeIsFit) {
  FitnessWatch watch(std::nullopt);
  EXPECT_EQ(watch.fitness(), rendezvous::Fitness::kFit);
  EXPECT_FALSE(watch.Due(kNow).has_value());
  watch.RoundEnded();
  EXPECT_EQ(watch.fitness(), rendezvous::Fitness::kFit);
}

TEST(FitnessWatch, TheFirstCheckIsDueAtOnceAndOnce) {
  FitnessWatch watch(seconds(30));
  EXPECT_EQ(watch.fitness(), rendezvous::Fitness::kUnchecked);
  const auto check = watch.Due(kNow);
  ASSERT_TRUE(check.has_value());
  EXPECT_FALSE(watch.Due(kNow + hours(1)).has_value());
  EXPECT_FALSE(watch.NextCheck().has_value());
  EXPECT_TRUE(watch.Found(kNow, *check, ""));
  EXPECT_EQ(watch.fitness(), rendezvous::Fitness::kFit);
}

TEST(FitnessWatch, AWaitingNodeIsLookedAtAgainAndAgain) {
  FitnessWatch watch(seconds(30));
  EXPECT_TRUE(watch.Found(kNow, *watch.Due(kNow), "no disk"));
  EXPECT_EQ(watch.fitness(), rendezvous::Fitness::kUnfit);
  EXPECT_EQ(watch.unfit(), "no disk");
  EXPECT_EQ(watch.NextCheck(), kNow + seconds(30));
  EXPECT_FALSE(watch.Due(kNow + seconds(29)).has_value());
  const auto again = watch.Due(kNow + seconds(30));
  ASSERT_TRUE(again.has_value());
  // What it was taken for stands meanwhile.
  EXPECT_EQ(watch.fitness(), rendezvous::Fitness::kUnfit);
  EXPECT_TRUE(watch.Found(kNow + seconds(31), *again, ""));
  EXPECT_EQ(watch.fitness(), rendezvous::Fitness::kFit);
  EXPECT_EQ(watch.unfit(), "");
  // And one that is fit may become unfit.
  EXPECT_TRUE(watch.Found(kNow + seconds(61), *watch.Due(kNow + seconds(61)),
                          "no GPU"));
}

TEST(FitnessWatch, TheSameAnswerChangesNothing) {
  FitnessWatch watch(seconds(30));
  watch.Found(kNow, *watch.Due(kNow), "no disk");
  EXPECT_FALSE(watch.Found(kNow + seconds(30), *watch.Due(kNow + seconds(30)),
                           "no disk"));
}

TEST(FitnessWatch, ARoundIsLeftAloneAndMustBeFollowedByACheck) {
  FitnessWatch watch(seconds(30));
  watch.Found(kNow, *watch.Due(kNow), "");
  EXPECT_FALSE(watch.RoundBegan()) << "nothing is under way";
  EXPECT_FALSE(watch.Due(kNow + hours(1)).has_value());
  EXPECT_FALSE(watch.NextCheck().has_value());
  watch.RoundEnded();
  EXPECT_EQ(watch.fitness(), rendezvous::Fitness::kUnchecked);
  EXPECT_TRUE(watch.Due(kNow + hours(1)).has_value());
}

TEST(FitnessWatch, ADroppedCheckSaysNothing) {
  FitnessWatch watch(seconds(30));
  const auto dropped = watch.Due(kNow);
  EXPECT_TRUE(watch.RoundBegan());
  EXPECT_FALSE(watch.Found(kNow, *dropped, "no disk"));
  watch.RoundEnded();
  const auto check = watch.Due(kNow);
  ASSERT_TRUE(check.has_value());
  EXPECT_FALSE(watch.Found(kNow, *dropped, "no disk"));
  EXPECT_EQ(watch.fitness(), rendezvous::Fitness::kUnchecked);
  EXPECT_TRUE(watch.Found(kNow, *check, ""));
}

}  // namespace
}  // namespace muster::agent
