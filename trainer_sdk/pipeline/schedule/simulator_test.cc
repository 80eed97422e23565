#include "trainer_sdk/pipeline/schedule/simulator.h"

#include <string>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/pipeline/schedule/generators.h"

namespace muster {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

PipelineTimeline Timeline(ScheduleKind kind, const PipelineShape& shape,
                          const PipelineCosts& costs = {}) {
  const auto schedule = MakeSchedule(kind, shape);
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  const auto timeline = Simulate(*schedule, costs);
  EXPECT_TRUE(timeline.ok()) << timeline.status();
  return *timeline;
}

// A fixture whose parameters are ranks and micro-batches. A forward pass takes
// 2 units of time. A backward pass takes 1 unit for the gradient of the input
// and 2 for the gradients of the weights.
class Bubble : public testing::TestWithParam<std::tuple<int, int>> {
 protected:
  const int p = std::get<0>(GetParam());
  const int m = std::get<1>(GetParam());
  const PipelineCosts costs{.stages = {{2, 1, 2}}, .message = 0};
  const int64_t pass = 2 + 1 + 2;
};

TEST_P(Bubble, OfGPipeAnd1F1BIsTheRanksButOneOverTheMicroBatches) {
  for (const ScheduleKind kind : {ScheduleKind::kGPipe, ScheduleKind::k1F1B}) {
    const PipelineTimeline timeline = Timeline(kind, {p, 1, m}, costs);
    EXPECT_EQ(timeline.makespan, (m + p - 1) * pass) << ScheduleName(kind);
    EXPECT_THAT(timeline.busy, Each(m * pass));
    EXPECT_EQ(timeline.BubbleOverIdeal(), (p - 1.0) / m);
  }
}

TEST_P(Bubble, OfInterleavedIsDividedByTheChunks) {
  if (m % p != 0) return;
  for (const int v : {1, 2, 3}) {
    const PipelineTimeline timeline =
        Timeline(ScheduleKind::kInterleaved1F1B, {p, v, m}, costs);
    EXPECT_EQ(timeline.makespan, (v * m + p - 1) * pass) << v;
    EXPECT_EQ(timeline.BubbleOverIdeal(), (p - 1.0) / (v * m));
  }
}

TEST_P(Bubble, OfZeroBubbleIsAThirdWhereAllPassesTakeTheSame) {
  // With fewer than 2p - 1 micro-batches, weight gradients cannot fill the
  // bubble (idle time). Then the formulas below do not hold, so skip them.
  if (m < 2 * p - 1) return;
  const PipelineTimeline timeline =
      Timeline(ScheduleKind::kZeroBubble1P, {p, 1, m});
  EXPECT_EQ(timeline.makespan, 3 * m + p - 1);
  EXPECT_EQ(timeline.BubbleOverIdeal(), (p - 1.0) / (3 * m));
}

TEST_P(Bubble, ActivationsHeldBy1F1BAreThoseOfTheRanksBehind) {
  const PipelineTimeline one = Timeline(ScheduleKind::k1F1B, {p, 1, m}, costs);
  const PipelineTimeline all = Timeline(ScheduleKind::kGPipe, {p, 1, m}, costs);
  for (int rank = 0; rank < p; ++rank) {
    EXPECT_EQ(one.max_held[rank], std::min(p - rank, m)) << rank;
    EXPECT_EQ(all.max_held[rank], m) << rank;
  }
}

INSTANTIATE_TEST_SUITE_P(Grid, Bubble,
                         testing::Combine(testing::Values(1, 2, 3, 4, 8),
                                          testing::Values(1, 2, 3, 4, 8, 12, 16,
                                                          32)));

TEST(SimulatorTest, EveryPassStandsWhereItCanStartFirst) {
  const PipelineTimeline timeline =
      Timeline(ScheduleKind::k1F1B, {2, 1, 2},
               {.stages = {{2, 1, 1}, {3, 2, 2}}, .message = 1});
  const auto times = [](const std::vector<TimedAction>& actions) {
    std::string text;
    for (const TimedAction& timed : actions) {
      text += ToString(timed.action) + "@" + std::to_string(timed.begin) + "-" +
              std::to_string(timed.end) + " ";
    }
    return text;
  };
  EXPECT_EQ(times(timeline.ranks[0]), "0F0@0-2 0F1@2-4 0B0@11-13 0B1@18-20 ");
  EXPECT_EQ(times(timeline.ranks[1]), "1F0@3-6 1B0@6-10 1F1@10-13 1B1@13-17 ");
  EXPECT_EQ(timeline.makespan, 20);
  EXPECT_THAT(timeline.busy, ElementsAre(8, 14));
}

TEST(SimulatorTest, RefusesCostsThatDoNotFit) {
  const auto schedule = *MakeSchedule(ScheduleKind::k1F1B, {2, 1, 2});
  const auto refusal = [&](const PipelineCosts& costs) {
    return std::string(Simulate(schedule, costs).status().message());
  };
  EXPECT_THAT(refusal({.stages = {{}, {}, {}}, .message = 0}),
              HasSubstr("costs of 3 stages for 2"));
  EXPECT_THAT(refusal({.stages = {}, .message = 0}),
              HasSubstr("costs of 0 stages"));
  EXPECT_THAT(refusal({.stages = {{1, -1, 1}}, .message = 0}),
              HasSubstr("between -1 and"));
  EXPECT_THAT(refusal({.stages = {{1, 1, 1}}, .message = -5}),
              HasSubstr("between -5"));
}

TEST(SimulatorTest, AFreePipelineTakesNoTime) {
  const PipelineTimeline timeline = Timeline(
      ScheduleKind::k1F1B, {2, 1, 2}, {.stages = {{0, 0, 0}}, .message = 0});
  EXPECT_EQ(timeline.makespan, 0);
  EXPECT_EQ(timeline.BubbleOverIdeal(), 0);
}

}  // namespace
}  // namespace muster
