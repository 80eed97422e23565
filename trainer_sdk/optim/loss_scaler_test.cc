#include "trainer_sdk/optim/loss_scaler.h"

#include "gtest/gtest.h"

namespace muster {
namespace {

using Verdict = LossScaler::Verdict;

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
