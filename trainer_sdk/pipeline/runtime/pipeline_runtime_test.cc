#include "trainer_sdk/pipeline/runtime/pipeline_runtime.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/pipeline/runtime/rank_plan.h"
#include "trainer_sdk/pipeline/runtime/recording_stage.h"
#include "trainer_sdk/pipeline/schedule/generators.h"
#include "trainer_sdk/pipeline/schedule/lowering.h"
#include "trainer_sdk/pipeline/schedule/schedule_csv.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"
#include "trainer_sdk/transports/new_transport.h"

namespace muster {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kFew = 200;
// The number of elements in a message that does not fit into a ring of the
// shared memory transport.
constexpr int64_t kMany = 70'000;

TransportFactory Over(TransportChoice choice) {
  return [choice](GroupPlace place, Instant deadline) {
    return NewTransport(std::move(place), choice, deadline);
  };
}

std::vector<Action> Computations(const std::vector<Action>& actions) {
  std::vector<Action> computations;
  std::copy_if(actions.begin(), actions.end(), std::back_inserter(computations),
               [](const Action& one) { return !IsCommunication(one.kind); });
  return computations;
}

// One rank's part of a pipeline: the runtime and its stages.
struct Pipeline {
  std::vector<Action> calls;
  std::vector<std::unique_ptr<RecordingStage>> stages;
  absl::StatusOr<std::unique_ptr<PipelineRuntime>> runtime =
      absl::UnknownError("not made");

  Pipeline(ProcessGroup& group, const PipelineSchedule& schedule,
           int64_t elements, PipelineOptions options = {}) {
    const PipelineShape& shape = schedule.shape;
    std::vector<PipelineStage*> chunks;
    for (int stage = group.rank(); stage < shape.stages();
         stage += shape.ranks) {
      stages.push_back(
          std::make_unique<RecordingStage>(stage, shape, elements, &calls));
      chunks.push_back(stages.back().get());
    }
    runtime = PipelineRuntime::Create(group, schedule, chunks, options);
  }
};

// Returns an upper bound of the number of buffers that a rank may need. The
// bound is the sum of:
//  - the largest number of inputs that are being received or wait to be used;
//  - the numbers of micro-batches in flight on this and on the previous rank;
//  - two, for the input and the output of the current pass.
int MaxBuffers(const PipelineSchedule& lowered, int rank) {
  const PipelineShape& shape = lowered.shape;
  int asked = 0;
  int most_asked = 0;
  for (const Action& action : lowered.ranks[static_cast<size_t>(rank)]) {
    if (action.kind == ActionKind::kRecvForward ||
        action.kind == ActionKind::kRecvBackward) {
      most_asked = std::max(most_asked, ++asked);
    } else if (action.kind == ActionKind::kForward) {
      asked -= action.stage > 0 ? 1 : 0;
    } else if (action.kind == ActionKind::kBackward ||
               action.kind == ActionKind::kInputBackward) {
      asked -= action.stage + 1 < shape.stages() ? 1 : 0;
    }
  }
  int held = 0;
  for (const int who : {rank, (rank + shape.ranks - 1) % shape.ranks}) {
    for (const int slots :
         PlanRank(lowered, who, PipelinePass::Purpose::kTraining)
             .activation_slots)
      held += slots;
  }
  return most_asked + held + 2;
}

// Runs two steps, an evaluation and a third step. Checks that each step
// performs exactly the computations of the schedule, in order and with the
// right data.
void ExpectPerformed(const PipelineSchedule& schedule, TransportChoice choice,
                     int64_t elements = kFew) {
  const PipelineShape& shape = schedule.shape;
  const auto statuses = RunWorld(
      shape.ranks,
      [&](ProcessGroup& group) -> absl::Status {
        Pipeline mine(group, schedule, elements);
        if (!mine.runtime.ok()) return mine.runtime.status();
        PipelineRuntime& runtime = **mine.runtime;
        const auto& lowered = runtime.schedule();
        const double mean = (shape.micro_batches - 1) / 2.0;
        for (int step = 0; step < 3; ++step) {
          mine.calls.clear();
          const auto loss = runtime.Step(8);
          if (!loss.ok()) return loss.status();
          EXPECT_EQ(*loss, mean);
          const auto expected = Computations(lowered.ranks[group.rank()]);
          EXPECT_EQ(mine.calls, expected);
          std::vector<Action> measured;
          Instant before;
          for (const MeasuredAction& one : runtime.measured()) {
            measured.push_back(one.action);
            EXPECT_LE(before, one.begin);
            EXPECT_LE(one.begin, one.end);
            before = one.end;
          }
          EXPECT_EQ(measured, expected);
          if (step != 1) continue;
          mine.calls.clear();
          const auto evaluation = runtime.Evaluate();
          if (!evaluation.ok()) return evaluation.status();
          EXPECT_EQ(*evaluation, mean);
          for (const Action& call : mine.calls) {
            EXPECT_EQ(call.kind, ActionKind::kForward);
          }
          EXPECT_EQ(
              mine.calls.size(),
              static_cast<size_t>(shape.micro_batches * shape.stages_per_rank));
        }
        for (const auto& stage : mine.stages) {
          EXPECT_EQ(stage->last_weight_passes.size(), 3u);
        }
        if (group.rank() == shape.ranks - 1) {
          // Step was called with the factor 8 each time. Loss must be called
          // with 8 / micro_batches, so that the sum of the losses becomes a
          // mean; the division must happen only once.
          auto& factors = mine.stages.back()->factors;
          std::sort(factors.begin(), factors.end(), std::greater<>());
          const size_t steps = static_cast<size_t>(shape.micro_batches) * 3;
          EXPECT_GE(factors.size(), steps);
          factors.resize(steps);
          EXPECT_THAT(factors, Each(8.0 / shape.micro_batches));
        }
        EXPECT_LE(runtime.stream_buffers(), MaxBuffers(lowered, group.rank()));
        return absl::OkStatus();
      },
      Over(choice));
  for (const absl::Status& status : statuses) {
    EXPECT_TRUE(status.ok()) << status;
  }
}

TEST(PipelineRuntimeTest, PerformsEveryKindOfSchedule) {
  for (const ScheduleKind kind : kScheduleKinds) {
    for (const PipelineShape& shape :
         {PipelineShape{1, 1, 3}, PipelineShape{2, 1, 5},
          PipelineShape{3, 1, 2}, PipelineShape{4, 1, 6},
          PipelineShape{1, 3, 2}, PipelineShape{2, 2, 4},
          PipelineShape{3, 3, 6}, PipelineShape{4, 2, 4}}) {
      const auto schedule = MakeSchedule(kind, shape);
      if (!schedule.ok()) continue;
      SCOPED_TRACE(WriteScheduleCsv(*schedule));
      ExpectPerformed(*schedule, TransportChoice::kSharedMemory);
    }
  }
}

TEST(PipelineRuntimeTest, PerformsWithMessagesThatFitInNoRing) {
  ExpectPerformed(*MakeSchedule(ScheduleKind::kZeroBubble1P, {3, 1, 4}),
                  TransportChoice::kSharedMemory, kMany);
}

TEST(PipelineRuntimeTest, PerformsOverNetworksToo) {
  for (const TransportChoice choice :
       {TransportChoice::kTcp, TransportChoice::kGloo,
        TransportChoice::kHierarchical}) {
    SCOPED_TRACE(Name(choice));
    ExpectPerformed(*MakeSchedule(ScheduleKind::k1F1B, {3, 1, 4}), choice,
                    kMany);
    ExpectPerformed(*MakeSchedule(ScheduleKind::kInterleaved1F1B, {2, 2, 4}),
                    choice);
  }
}

// Tests a schedule that no generator makes. Its backward passes are in another
// order than its forward passes, and it computes weight gradients at unusual
// positions.
TEST(PipelineRuntimeTest, PerformsWhatComesAsCsv) {
  const auto schedule = ReadScheduleCsv(
      "0F2,0F0,0F1,0I0,0I2,0I1,0W1,0W2,0W0\n"
      "1F2,1F0,1I0,1F1,1I2,1W0,1B1,1W2\n");
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  ExpectPerformed(*schedule, TransportChoice::kSharedMemory);
  const auto lowered = AddCommunication(*schedule);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  const auto again = ReadScheduleCsv(WriteScheduleCsv(*lowered));
  ASSERT_TRUE(again.ok()) << again.status();
  ExpectPerformed(*again, TransportChoice::kSharedMemory);
}

TEST(PipelineRuntimeTest, BuffersAreForWhatIsUnderWayAndNotForAll) {
  const auto schedule = *MakeSchedule(ScheduleKind::k1F1B, {3, 1, 60});
  const auto lowered = *AddCommunication(schedule);
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_LE(MaxBuffers(lowered, rank), 10);
  }
  ExpectPerformed(schedule, TransportChoice::kSharedMemory);
}

// The measured times of the ranks must be consistent with each other and with
// the schedule. The durations themselves cannot be predicted.
TEST(PipelineRuntimeTest, AMeasuredStepIsTheScheduleInTime) {
  const auto schedule = *MakeSchedule(ScheduleKind::kZeroBubble1P, {3, 1, 4});
  const auto statuses = RunWorld(3, [&](ProcessGroup& group) -> absl::Status {
    Pipeline mine(group, schedule, 10);
    if (!mine.runtime.ok()) return mine.runtime.status();
    const auto none = MeasuredTimeline(**mine.runtime, group);
    EXPECT_EQ(none.status().code(), absl::StatusCode::kFailedPrecondition);
    if (auto loss = (*mine.runtime)->Step(); !loss.ok()) return loss.status();
    const auto timeline = MeasuredTimeline(**mine.runtime, group);
    if (!timeline.ok()) return timeline.status();
    EXPECT_EQ(timeline->shape, schedule.shape);
    for (int rank = 0; rank < 3; ++rank) {
      std::vector<Action> actions;
      int64_t before = 0;
      for (const auto& [action, begin, end] : timeline->ranks[rank]) {
        actions.push_back(action);
        EXPECT_LE(before, begin);
        EXPECT_LE(begin, end);
        before = end;
      }
      EXPECT_EQ(actions, schedule.ranks[rank]);
      EXPECT_LE(before, timeline->makespan);
      EXPECT_LE(timeline->busy[rank], timeline->makespan);
    }
    EXPECT_EQ(
        std::min({timeline->ranks[0][0].begin, timeline->ranks[1][0].begin,
                  timeline->ranks[2][0].begin}),
        0);
    return absl::OkStatus();
  });
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
}

TEST(PipelineRuntimeTest, ShapesThatDoNotFitAreNamedOnAllRanks) {
  const auto schedule = *MakeSchedule(ScheduleKind::k1F1B, {3, 1, 2});
  const auto statuses = RunWorld(3, [&](ProcessGroup& group) {
    return Pipeline(group, schedule, group.rank() == 2 ? 12 : 10)
        .runtime.status();
  });
  for (const absl::Status& status : statuses) {
    EXPECT_EQ(status.message(),
              "stage 1 (rank 1) gives int32[10], but stage 2 (rank 2) takes "
              "int32[12]");
  }
}

TEST(PipelineRuntimeTest, OtherSchedulesAreNamedOnAllRanks) {
  const auto statuses = RunWorld(2, [&](ProcessGroup& group) {
    const ScheduleKind kind =
        group.rank() == 0 ? ScheduleKind::kGPipe : ScheduleKind::k1F1B;
    return Pipeline(group, *MakeSchedule(kind, {2, 1, 3}), 10).runtime.status();
  });
  for (const absl::Status& status : statuses) {
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("rank 1 has another schedule than rank 0"));
  }
}

TEST(PipelineRuntimeTest, ANullStageIsRefused) {
  const auto statuses = RunWorld(1, [](ProcessGroup& group) {
    return PipelineRuntime::Create(
               group, *MakeSchedule(ScheduleKind::kGPipe, {1, 1, 2}), {nullptr})
        .status();
  });
  EXPECT_EQ(statuses[0].code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(statuses[0].message()),
              ::testing::HasSubstr("a stage of rank 0 is null"));
}

TEST(PipelineRuntimeTest, TheScheduleIsOneForTheseRanksAndSound) {
  const auto statuses = RunWorld(1, [&](ProcessGroup& group) {
    auto schedule = *MakeSchedule(ScheduleKind::k1F1B, {2, 1, 2});
    EXPECT_THAT(
        std::string(Pipeline(group, schedule, 1).runtime.status().message()),
        HasSubstr("a schedule for 2 ranks with 1 stages each; there are 1 "
                  "ranks, and rank 0 has 1 stages"));
    schedule.ranks[0].pop_back();
    EXPECT_THAT(
        std::string(Pipeline(group, schedule, 1).runtime.status().message()),
        HasSubstr("stage 0 lacks for micro-batch 1: its backward"));
    return absl::OkStatus();
  });
  EXPECT_TRUE(statuses[0].ok());
}

}  // namespace
}  // namespace muster
