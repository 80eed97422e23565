#include "trainer_sdk/optim/step_plan.h"

#include <cmath>
#include <limits>

#include "base/testing/rounding.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

using Verdict = LossScaler::Verdict;

constexpr auto kStep = LossScaler::Verdict::kStep;
constexpr auto kSkip = LossScaler::Verdict::kSkip;

TEST(StepPlanTest, WithoutAScaleGradientsAreOnlyClipped) {
  const StepPlan free = PlanStep(25, 0, nullptr);
  EXPECT_EQ(free.verdict, kStep);
  EXPECT_EQ(free.gradient_factor, 1);
  EXPECT_EQ(free.norm, 5);
  const StepPlan clipped = PlanStep(25, 2, nullptr);
  // The norm is 5, the square root of 25. To avoid a division by zero,
  // ClipCoefficient divides by the norm plus 1e-6.
  EXPECT_NEAR(clipped.gradient_factor, 2 / (5 + 1e-6),
              RoundingBound<double>(4, 1));
  EXPECT_EQ(clipped.norm, 5);
  EXPECT_EQ(PlanStep(25, 6, nullptr).gradient_factor, 1);
}

TEST(StepPlanTest, TheScaleIsTakenOffBeforeTheNormIsLookedAt) {
  LossScaler scaler({.initial = 8, .growth_interval = 1});
  const StepPlan plan = PlanStep(64 * 25, 2, &scaler);
  EXPECT_EQ(plan.verdict, kStep);
  EXPECT_EQ(plan.norm, 5);
  EXPECT_NEAR(plan.gradient_factor, 2 / (5 + 1e-6) / 8,
              RoundingBound<double>(4, 1));
  // PlanStep has doubled the loss scale to 16 for the next step. But
  // plan.gradient_factor must contain the old scale, 8, with which the
  // gradients of this step were computed.
  EXPECT_EQ(scaler.scale(), 16);
}

TEST(StepPlanTest, NonFiniteNormSkipsTheStep) {
  for (const double squares :
       {std::numeric_limits<double>::infinity(), std::nan("")}) {
    LossScaler scaler({.initial = 8});
    EXPECT_EQ(PlanStep(squares, 2, &scaler).verdict, kSkip);
    EXPECT_EQ(scaler.scale(), 4);
    EXPECT_EQ(PlanStep(squares, 2, nullptr).verdict, kSkip);
  }
}

TEST(LossScalerTest, BeginsAsPyTorchs) {
  EXPECT_EQ(LossScaler().scale(), 65536);
}

TEST(LossScalerTest, AnOverflowSkipsTheStepAndHalvesTheScale) {
  LossScaler scaler;
  EXPECT_EQ(scaler.Update(Finite::kNotAll), Verdict::kSkip);
  EXPECT_EQ(scaler.scale(), 32768);
  EXPECT_EQ(scaler.Update(Finite::kAll), Verdict::kStep);
  EXPECT_EQ(scaler.scale(), 32768);
}

TEST(LossScalerTest, GrowsAfterSoManyGoodStepsInARow) {
  LossScaler scaler({.initial = 8, .growth_interval = 3});
  scaler.Update(Finite::kAll);
  scaler.Update(Finite::kAll);
  EXPECT_EQ(scaler.Update(Finite::kAll), Verdict::kStep);
  EXPECT_EQ(scaler.scale(), 16);
  scaler.Update(Finite::kAll);
  scaler.Update(Finite::kAll);
  // An overflow halves the scale and resets the count of steps without
  // overflow.
  scaler.Update(Finite::kNotAll);
  scaler.Update(Finite::kAll);
  scaler.Update(Finite::kAll);
  EXPECT_EQ(scaler.scale(), 8);
  scaler.Update(Finite::kAll);
  EXPECT_EQ(scaler.scale(), 16);
}

TEST(LossScalerTest, GrowsAgainAndAgain) {
  LossScaler scaler({.initial = 8, .growth_interval = 2});
  for (int i = 0; i < 6; ++i) scaler.Update(Finite::kAll);
  EXPECT_EQ(scaler.scale(), 64);
}

TEST(LossScalerTest, GoesOnWhereItWas) {
  LossScaler first({.initial = 8, .growth_interval = 2});
  first.Update(Finite::kAll);
  LossScaler second({.initial = 1, .growth_interval = 2});
  second.Restore(first.state());
  second.Update(Finite::kAll);
  EXPECT_EQ(second.scale(), 16);
}

}  // namespace
}  // namespace muster
