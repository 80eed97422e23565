#include "trainer_sdk/optim/sgd.h"

#include "gtest/gtest.h"

namespace muster {
namespace {

TEST(SgdTest, PlainDescentNeedsNoState) {
  float weight = 1;
  const float gradient = 2;
  SgdStep({}, 0.25, 1, 1, &weight, &gradient, nullptr);
  EXPECT_EQ(weight, 0.5f);
}

TEST(SgdTest, MomentumAddsUp) {
  float weight = 0;
  float velocity = 99;  // ignored in the first step
  const float gradient = 1;
  for (int step = 1; step <= 3; ++step) {
    SgdStep({.momentum = 0.5}, 1, step, 1, &weight, &gradient, &velocity);
  }
  EXPECT_EQ(velocity, 1.75f);
  EXPECT_EQ(weight, -(1 + 1.5f + 1.75f));
}

TEST(SgdTest, NesterovLooksAhead) {
  float weight = 0;
  float velocity = 0;
  const float gradient = 1;
  const SgdOptions options{.momentum = 0.5,
                           .lookahead = SgdOptions::Lookahead::kNesterov};
  SgdStep(options, 1, 1, 1, &weight, &gradient, &velocity);
  EXPECT_EQ(weight, -1.5f);
  SgdStep(options, 1, 2, 1, &weight, &gradient, &velocity);
  EXPECT_EQ(weight, -1.5f - (1 + 0.75f));
}

TEST(SgdTest, DecayPullsTowardsZero) {
  float weight = 4;
  const float gradient = 0;
  SgdStep({.weight_decay = 0.5}, 0.5, 1, 1, &weight, &gradient, nullptr);
  EXPECT_EQ(weight, 3);
}

}  // namespace
}  // namespace muster
