#include "trainer_sdk/optim/learning_rate.h"

#include <numbers>

#include "base/testing/rounding.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

// The bound for the rounding error of a learning rate. A learning rate is at
// most 1 and is computed by at most eight operations.
const double kRounding = RoundingBound<double>(8, 1);

using Decay = LearningRateSchedule::Decay;

TEST(LearningRateTest, WarmsUpInALineFromAboveZero) {
  const LearningRateSchedule schedule{
      .peak = 1, .floor = 0.1, .warmup = 4, .decay_until = 104};
  EXPECT_NEAR(schedule.At(0), 0.2, kRounding);
  EXPECT_NEAR(schedule.At(3), 0.8, kRounding);
  EXPECT_NEAR(schedule.At(4), 1, kRounding);
}

TEST(LearningRateTest, DecaysToTheFloorAndStaysThere) {
  for (const Decay decay : {Decay::kLinear, Decay::kCosine}) {
    const LearningRateSchedule schedule{.peak = 1,
                                        .floor = 0.1,
                                        .warmup = 4,
                                        .decay_until = 104,
                                        .decay = decay};
    EXPECT_NEAR(schedule.At(54), 0.55, kRounding);
    EXPECT_NEAR(schedule.At(104), 0.1, kRounding);
    EXPECT_NEAR(schedule.At(100'000), 0.1, kRounding);
    for (int64_t step = 4; step < 104; ++step) {
      EXPECT_GT(schedule.At(step), schedule.At(step + 1)) << step;
    }
  }
}

TEST(LearningRateTest, ACosineFallsSlowlyAtBothEnds) {
  const LearningRateSchedule cosine{.peak = 1, .decay_until = 100};
  EXPECT_NEAR(cosine.At(25), (2 + std::numbers::sqrt2) / 4, kRounding);
  EXPECT_NEAR(cosine.At(75), (2 - std::numbers::sqrt2) / 4, kRounding);
}

TEST(LearningRateTest, MayStayAsItIs) {
  const LearningRateSchedule constant{
      .peak = 0.5, .warmup = 1, .decay = Decay::kNone};
  EXPECT_NEAR(constant.At(0), 0.25, kRounding);
  EXPECT_NEAR(constant.At(1'000'000), 0.5, kRounding);
}

TEST(LearningRateTest, ADecayWithoutLengthIsTheFloorAtOnce) {
  const LearningRateSchedule schedule{
      .peak = 1, .floor = 0.1, .warmup = 2, .decay_until = 2};
  EXPECT_NEAR(schedule.At(2), 0.1, kRounding);
}

}  // namespace
}  // namespace muster
