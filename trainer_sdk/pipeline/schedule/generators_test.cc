#include "trainer_sdk/pipeline/schedule/generators.h"

#include <string>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/pipeline/schedule/schedule_csv.h"
#include "trainer_sdk/pipeline/schedule/validator.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

std::string Made(ScheduleKind kind, int ranks, int stages_per_rank,
                 int micro_batches) {
  const auto schedule =
      MakeSchedule(kind, {ranks, stages_per_rank, micro_batches});
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  return schedule.ok() ? WriteScheduleCsv(*schedule) : "";
}

TEST(GeneratorsTest, GPipeDoesAllForwardsFirst) {
  EXPECT_EQ(Made(ScheduleKind::kGPipe, 2, 1, 2),
            "0F0,0F1,0B0,0B1\n"
            "1F0,1F1,1B0,1B1\n");
}

TEST(GeneratorsTest, WarmUpOf1F1BCountsTheLaterRanks) {
  EXPECT_EQ(Made(ScheduleKind::k1F1B, 3, 1, 4),
            "0F0,0F1,0F2,0B0,0F3,0B1,0B2,0B3\n"
            "1F0,1F1,1B0,1F2,1B1,1F3,1B2,1B3\n"
            "2F0,2B0,2F1,2B1,2F2,2B2,2F3,2B3\n");
}

TEST(GeneratorsTest, InterleavedTakesTheChunksInTurns) {
  EXPECT_EQ(Made(ScheduleKind::kInterleaved1F1B, 2, 2, 4),
            "0F0,0F1,2F0,2F1,0F2,2B0,0F3,2B1,2F2,0B0,2F3,0B1,2B2,2B3,0B2,0B3\n"
            "1F0,1F1,3F0,3B0,3F1,3B1,1F2,1B0,1F3,1B1,3F2,3B2,3F3,3B3,1B2,1B3"
            "\n");
}

TEST(GeneratorsTest, ZeroBubbleSplitsTheBackwardAndDelaysTheWeights) {
  EXPECT_EQ(Made(ScheduleKind::kZeroBubble1P, 2, 1, 3),
            "0F0,0F1,0I0,0W0,0F2,0I1,0W1,0I2,0W2\n"
            "1F0,1I0,1F1,1I1,1W0,1F2,1I2,1W1,1W2\n");
}

TEST(GeneratorsTest, SingleRankAlternatesAtOnce) {
  EXPECT_EQ(Made(ScheduleKind::k1F1B, 1, 1, 2), "0F0,0B0,0F1,0B1\n");
}

// A fixture whose parameters are the kind of schedule, ranks, stages per rank,
// and micro-batches.
class Grid
    : public testing::TestWithParam<std::tuple<ScheduleKind, int, int, int>> {};

TEST_P(Grid, IsAWholeStepThatCannotGetStuck) {
  const auto [kind, ranks, stages_per_rank, micro_batches] = GetParam();
  const PipelineShape shape{ranks, stages_per_rank, micro_batches};
  const auto schedule = MakeSchedule(kind, shape);
  const bool one_stage =
      kind == ScheduleKind::kGPipe || kind == ScheduleKind::k1F1B;
  const bool fits = micro_batches % std::max(1, micro_batches / ranks) == 0;
  if (stages_per_rank > 1 && (one_stage || !fits)) {
    EXPECT_EQ(schedule.status().code(), absl::StatusCode::kInvalidArgument);
    return;
  }
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  const absl::Status sound = CheckComputations(*schedule);
  EXPECT_TRUE(sound.ok()) << sound;
}

INSTANTIATE_TEST_SUITE_P(
    Small, Grid,
    testing::Combine(testing::ValuesIn(kScheduleKinds), testing::Range(1, 6),
                     testing::Range(1, 5),
                     testing::Values(1, 2, 3, 4, 5, 6, 8, 10, 12, 17)));

TEST(GeneratorsTest, RefusesWhatIsNoPipeline) {
  const auto refusal = [](ScheduleKind kind, PipelineShape shape) {
    return std::string(MakeSchedule(kind, shape).status().message());
  };
  EXPECT_THAT(refusal(ScheduleKind::k1F1B, {0, 1, 1}), HasSubstr("0 ranks"));
  EXPECT_THAT(refusal(ScheduleKind::k1F1B, {1, -2, 1}),
              HasSubstr("-2 stages a rank"));
  EXPECT_THAT(refusal(ScheduleKind::k1F1B, {1, 1, 0}),
              HasSubstr("0 micro-batches"));
  EXPECT_THAT(refusal(ScheduleKind::k1F1B, {2, 2, 2}),
              HasSubstr("1f1b has one stage a rank, not 2"));
  EXPECT_THAT(refusal(ScheduleKind::kInterleaved1F1B, {2, 2, 5}),
              HasSubstr("5 micro-batches cannot be divided into 2 equal"));
  EXPECT_THAT(refusal(ScheduleKind::kGPipe, {99'999, 1, 99'999}),
              HasSubstr("has more than"));
}

TEST(GeneratorsTest, AreCalledByName) {
  std::string names;
  for (const ScheduleKind kind : kScheduleKinds) {
    const auto parsed = ParseScheduleName(ScheduleName(kind));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, kind);
    names.append(names.empty() ? "" : ", ").append(ScheduleName(kind));
  }
  EXPECT_EQ(names, "gpipe, 1f1b, interleaved_1f1b, zb1p");
  EXPECT_EQ(std::string(ParseScheduleName("1f2b").status().message()),
            "no schedule '1f2b'; there are " + names);
}

}  // namespace
}  // namespace muster
