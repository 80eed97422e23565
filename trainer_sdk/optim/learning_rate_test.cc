#include "trainer_sdk/optim/learning_rate.h"

#include "gtest/gtest.h"

namespace muster {
namespace {

using Decay = LearningRateSchedule::Decay;

TEST(LearningRateTest, WarmsUpInALineFromAboveZero) {
  const LearningRateSchedule schedule{
      .peak = 1, .floor = 0.1, .warmup = 4, .decay_until = 104};
  EXPECT_DOUBLE_EQ(schedule.At(0), 0.2);
  EXPECT_DOUBLE_EQ(schedule.At(3), 0.8);
  EXPECT_DOUBLE_EQ(schedule.At(4), 1);
}

TEST(LearningRateTest, DecaysToTheFloorAndStaysThere) {
  for (const Decay decay : {Decay::kLinear, Decay::kCosine}) {
    const LearningRateSchedule schedule{.peak = 1,
                                        .floor = 0.1,
                                        .warmup = 4,
                                        .decay_until = 104,
                                        .decay = decay};
    EXPECT_NEAR(schedule.At(54), 0.55, 1e-12);
    EXPECT_DOUBLE_EQ(schedule.At(104), 0.1);
    EXPECT_DOUBLE_EQ(schedule.At(100'000), 0.1);
    for (int64_t step = 4; step < 104; ++step) {
      EXPECT_GT(schedule.At(step), schedule.At(step + 1)) << step;
    }
  }
}

TEST(LearningRateTest, ACosineFallsSlowlyAtBothEnds) {
  const LearningRateSchedule cosine{.peak = 1, .decay_until = 100};
  EXPECT_NEAR(cosine.At(25), 0.853553390593, 1e-12);
  EXPECT_NEAR(cosine.At(75), 0.146446609407, 1e-12);
}

TEST(LearningRateTest, MayStayAsItIs) {
  const LearningRateSchedule constant{
      .peak = 0.5, .warmup = 1, .decay = Decay::kNone};
  EXPECT_DOUBLE_EQ(constant.At(0), 0.25);
  EXPECT_DOUBLE_EQ(constant.At(1'000'000), 0.5);
}

TEST(LearningRateTest, ADecayWithoutLengthIsTheFloorAtOnce) {
  const LearningRateSchedule schedule{
      .peak = 1, .floor = 0.1, .warmup = 2, .decay_until = 2};
  EXPECT_DOUBLE_EQ(schedule.At(2), 0.1);
}

}  // namespace
}  // namespace muster
