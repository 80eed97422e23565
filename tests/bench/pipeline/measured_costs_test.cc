#include "tests/bench/pipeline/measured_costs.h"

#include "gtest/gtest.h"
#include "trainer_sdk/pipeline/schedule/generators.h"

namespace muster {
namespace {

PipelineCosts Costs() {
  return {.stages = {{10, 12, 13}, {7, 20, 21}, {9, 9, 9}}, .message = 0};
}

void ExpectSame(const PipelineCosts& got, const PipelineCosts& expected) {
  ASSERT_EQ(got.stages.size(), expected.stages.size());
  for (size_t i = 0; i < expected.stages.size(); ++i) {
    EXPECT_EQ(got.stages[i].forward, expected.stages[i].forward);
    EXPECT_EQ(got.stages[i].input_backward, expected.stages[i].input_backward);
    EXPECT_EQ(got.stages[i].weight_backward,
              expected.stages[i].weight_backward);
  }
}

TEST(MeasuredCostsTest, SimulatedCostsAreFoundAgain) {
  for (const ScheduleKind kind :
       {ScheduleKind::k1F1B, ScheduleKind::kZeroBubble1P}) {
    const auto timeline = Simulate(*MakeSchedule(kind, {3, 1, 5}), Costs());
    ASSERT_TRUE(timeline.ok());
    ExpectSame(MeasuredCosts({*timeline, *timeline}), Costs());
  }
}

TEST(MeasuredCostsTest, ASingleDelayedPassDoesNotCount) {
  auto timeline =
      *Simulate(*MakeSchedule(ScheduleKind::k1F1B, {3, 1, 5}), Costs());
  timeline.ranks[1][4].end += 1000;
  ExpectSame(MeasuredCosts({timeline}), Costs());
}

TEST(MeasuredCostsTest, WithoutStepsAllCostsAreZero) {
  EXPECT_TRUE(MeasuredCosts({}).stages.empty());
}

}  // namespace
}  // namespace muster
