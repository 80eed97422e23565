#include "trainer_sdk/pipeline/schedule/lowering.h"

#include <string>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/pipeline/schedule/generators.h"
#include "trainer_sdk/pipeline/schedule/schedule_csv.h"
#include "trainer_sdk/pipeline/schedule/validator.h"

namespace muster {
namespace {

TEST(LoweringTest, SendsAtOnceAndPostsReceivesEarly) {
  const auto lowered =
      AddCommunication(*MakeSchedule(ScheduleKind::k1F1B, {2, 1, 2}));
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  EXPECT_EQ(WriteScheduleCsv(*lowered),
            "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
            "1RECV_F0,1F0,1RECV_F1,1B0,1SEND_B0,1F1,1B1,1SEND_B1\n");
}

TEST(LoweringTest, NeighboursOnOneRankNeedNoMessage) {
  const auto lowered = AddCommunication(
      *MakeSchedule(ScheduleKind::kInterleaved1F1B, {1, 3, 2}));
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  for (const Action& action : lowered->ranks[0]) {
    EXPECT_FALSE(IsCommunication(action.kind)) << ToString(action);
  }
}

TEST(LoweringTest, AnUnsoundOneIsRefused) {
  PipelineSchedule schedule = *MakeSchedule(ScheduleKind::k1F1B, {2, 1, 2});
  schedule.ranks[0].pop_back();
  EXPECT_EQ(AddCommunication(schedule).status().code(),
            absl::StatusCode::kInvalidArgument);
}

// A fixture whose parameters are the kind of schedule, and the size: (stages
// per rank, micro-batches, ranks).
class Grid : public testing::TestWithParam<
                 std::tuple<ScheduleKind, std::tuple<int, int, int>>> {};

TEST_P(Grid, NeverDeadlocks) {
  const auto [kind, sizes] = GetParam();
  auto [stages_per_rank, micro_batches, ranks] = sizes;
  if (kind == ScheduleKind::kGPipe || kind == ScheduleKind::k1F1B) {
    stages_per_rank = 1;
  }
  const auto schedule =
      MakeSchedule(kind, {ranks, stages_per_rank, micro_batches});
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  const auto lowered = AddCommunication(*schedule);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  const absl::Status sound = CheckLowered(*lowered);
  EXPECT_TRUE(sound.ok()) << sound;
}

// The sizes that PyTorch's own tests of schedules use, and small sizes.
INSTANTIATE_TEST_SUITE_P(
    Sizes, Grid,
    testing::Combine(testing::ValuesIn(kScheduleKinds),
                     testing::Values(std::tuple(2, 8, 4), std::tuple(4, 16, 16),
                                     std::tuple(3, 12, 4), std::tuple(4, 10, 5),
                                     std::tuple(4, 128, 64),
                                     std::tuple(1, 1, 1), std::tuple(1, 1, 4),
                                     std::tuple(2, 2, 4), std::tuple(1, 3, 2),
                                     std::tuple(2, 4, 2), std::tuple(3, 6, 3),
                                     std::tuple(2, 4, 3))));

}  // namespace
}  // namespace muster
