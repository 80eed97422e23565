#ifndef MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_RANK_PLAN_H_
#define MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_RANK_PLAN_H_

#include <vector>

#include "trainer_sdk/pipeline/runtime/pipeline_stage.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// One thing that a rank does.
struct PlannedAction {
  Action action;
  // Of computations: what the stage is told.
  PipelinePass pass;
};

// All that one rank does in a step, in order.
struct RankPlan {
  std::vector<PlannedAction> actions;
  // By chunk, that is for stages rank, rank + p, ...: places for activations,
  // the most micro-batches that the stage has under way at one time.
  std::vector<int> places;
};

// The rank's list as it is, with places dealt out: each micro-batch takes the
// lowest that is free. Pure. The schedule must be sound (CheckLowered).
RankPlan PlanRank(const PipelineSchedule& lowered, int rank);

// Only the forward passes and their messages, as an evaluation does them: a
// schedule of which no rank can get stuck, as forward passes wait for nothing
// else. Its places are free again behind each pass. Pure.
RankPlan PlanEvaluation(const PipelineSchedule& lowered, int rank);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_RANK_PLAN_H_
