#include "trainer_sdk/pipeline/runtime/rank_plan.h"

#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/pipeline/schedule/generators.h"
#include "trainer_sdk/pipeline/schedule/lowering.h"
#include "trainer_sdk/pipeline/schedule/simulator.h"

namespace muster {
namespace {

using ::testing::ElementsAre;

std::vector<Action> ActionsOf(const RankPlan& plan) {
  std::vector<Action> actions;
  for (const PlannedAction& planned : plan.actions) {
    actions.push_back(planned.action);
  }
  return actions;
}

RankPlan Training(const PipelineSchedule& schedule, int rank) {
  return PlanRank(schedule, rank, PipelinePass::Purpose::kTraining);
}

// Schedules of every kind, in several sizes.
std::vector<PipelineSchedule> SomeSchedules() {
  std::vector<PipelineSchedule> schedules;
  for (const ScheduleKind kind : kScheduleKinds) {
    for (const PipelineShape& shape :
         {PipelineShape{2, 1, 8}, PipelineShape{3, 1, 5},
          PipelineShape{4, 2, 8}, PipelineShape{1, 1, 3}}) {
      const auto schedule = MakeSchedule(kind, shape);
      if (schedule.ok()) schedules.push_back(*AddCommunication(*schedule));
    }
  }
  return schedules;
}

TEST(RankPlanTest, IsTheRanksListAsItIs) {
  for (const PipelineSchedule& schedule : SomeSchedules()) {
    for (int rank = 0; rank < schedule.shape.ranks; ++rank) {
      EXPECT_EQ(ActionsOf(Training(schedule, rank)), schedule.ranks[rank]);
    }
  }
}

// A slot belongs to at most one micro-batch at a time, from the forward pass to
// the end of the backward pass of that micro-batch.
TEST(RankPlanTest, PlacesAreNotShared) {
  for (const PipelineSchedule& schedule : SomeSchedules()) {
    for (int rank = 0; rank < schedule.shape.ranks; ++rank) {
      std::map<std::pair<int, int>, int> taken;
      const RankPlan plan = Training(schedule, rank);
      for (const auto& [action, pass] : plan.actions) {
        if (IsCommunication(action.kind)) continue;
        EXPECT_EQ(pass.micro_batch, action.micro_batch);
        EXPECT_EQ(pass.purpose, PipelinePass::Purpose::kTraining);
        ASSERT_LT(pass.activation_slot,
                  plan.activation_slots[action.stage / schedule.shape.ranks]);
        const std::pair slot(action.stage, pass.activation_slot);
        if (action.kind == ActionKind::kForward) {
          EXPECT_TRUE(taken.emplace(slot, pass.micro_batch).second);
          continue;
        }
        ASSERT_TRUE(taken.contains(slot));
        EXPECT_EQ(taken[slot], pass.micro_batch);
        if (action.kind != ActionKind::kInputBackward) taken.erase(slot);
      }
      EXPECT_TRUE(taken.empty());
    }
  }
}

TEST(RankPlanTest, ARankHasTheScheduleMostHeldAndNotOneAMicroBatch) {
  const auto slots = [](ScheduleKind kind, const PipelineShape& shape,
                        int rank) {
    return Training(*AddCommunication(*MakeSchedule(kind, shape)), rank)
        .activation_slots;
  };
  EXPECT_THAT(slots(ScheduleKind::kGPipe, {4, 1, 64}, 1), ElementsAre(64));
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_THAT(slots(ScheduleKind::k1F1B, {4, 1, 64}, rank),
                ElementsAre(4 - rank));
  }
  for (const PipelineSchedule& schedule : SomeSchedules()) {
    if (schedule.shape.stages_per_rank > 1) continue;
    PipelineSchedule computations{schedule.shape, {}};
    for (const auto& actions : schedule.ranks) {
      computations.ranks.emplace_back();
      for (const Action& action : actions) {
        if (!IsCommunication(action.kind)) {
          computations.ranks.back().push_back(action);
        }
      }
    }
    const auto timeline = Simulate(computations, {});
    for (int rank = 0; rank < schedule.shape.ranks; ++rank) {
      EXPECT_THAT(Training(schedule, rank).activation_slots,
                  ElementsAre(timeline->max_held[rank]));
    }
  }
}

TEST(RankPlanTest, TheLastWeightPassOfEachStageIsMarked) {
  for (const PipelineSchedule& schedule : SomeSchedules()) {
    for (int rank = 0; rank < schedule.shape.ranks; ++rank) {
      std::map<int, int> left;
      const RankPlan plan = Training(schedule, rank);
      for (const auto& [action, pass] : plan.actions) {
        if (action.kind != ActionKind::kBackward &&
            action.kind != ActionKind::kWeightBackward) {
          EXPECT_EQ(pass.weights, WeightPass::kMoreToCome);
          continue;
        }
        const int done = ++left[action.stage];
        EXPECT_EQ(pass.weights == WeightPass::kLast,
                  done == schedule.shape.micro_batches);
      }
    }
  }
}

TEST(RankPlanTest, AnEvaluationIsTheSameWithoutWeightPasses) {
  for (const PipelineSchedule& schedule : SomeSchedules()) {
    for (int rank = 0; rank < schedule.shape.ranks; ++rank) {
      const RankPlan plan =
          PlanRank(schedule, rank, PipelinePass::Purpose::kEvaluation);
      std::vector<Action> expected = schedule.ranks[rank];
      std::erase_if(expected, [](const Action& action) {
        return action.kind == ActionKind::kWeightBackward;
      });
      EXPECT_EQ(ActionsOf(plan), expected);
      EXPECT_EQ(plan.activation_slots,
                Training(schedule, rank).activation_slots);
      for (const auto& [action, pass] : plan.actions) {
        if (IsCommunication(action.kind)) continue;
        EXPECT_EQ(pass.purpose, PipelinePass::Purpose::kEvaluation);
      }
    }
  }
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ChannelRoundsTest, SingleRankHasNoChannels) {
  EXPECT_THAT(ChannelRounds({1, 1, 4}), IsEmpty());
  EXPECT_THAT(ChannelRounds({1, 3, 4}), IsEmpty());
}

TEST(ChannelRoundsTest, TheEndsAreNeighboursOnlyWithSeveralStages) {
  EXPECT_THAT(ChannelRounds({2, 1, 4}),
              ElementsAre(ElementsAre(Neighbours{0, 1})));
  // With two ranks and two stages on each rank, the output of stage 1 (on rank
  // 1) goes to stage 2 (on rank 0). So the result must have a second pair of
  // neighbours, from rank 1 to rank 0.
  EXPECT_THAT(ChannelRounds({2, 2, 4}),
              ElementsAre(ElementsAre(Neighbours{0, 1}),
                          ElementsAre(Neighbours{1, 0})));
  EXPECT_THAT(
      ChannelRounds({3, 2, 4}),
      ElementsAre(ElementsAre(Neighbours{0, 1}), ElementsAre(Neighbours{1, 2}),
                  ElementsAre(Neighbours{2, 0})));
}

TEST(ChannelRoundsTest, RoundsPairEachNeighbourOnce) {
  for (int ranks = 2; ranks < 12; ++ranks) {
    for (int chunks = 1; chunks < 3; ++chunks) {
      const auto rounds = ChannelRounds({ranks, chunks, 1});
      EXPECT_LE(rounds.size(), chunks == 1 || ranks % 2 == 0 ? 2u : 3u);
      std::set<int> first;
      for (const auto& round : rounds) {
        std::set<int> busy;
        for (const Neighbours& both : round) {
          EXPECT_EQ(both.next, (both.rank + 1) % ranks);
          EXPECT_TRUE(busy.insert(both.rank).second);
          EXPECT_TRUE(busy.insert(both.next).second);
          EXPECT_TRUE(first.insert(both.rank).second);
        }
      }
      EXPECT_EQ(first.size(),
                static_cast<size_t>(chunks == 1 ? ranks - 1 : ranks));
    }
  }
}

}  // namespace
}  // namespace muster
