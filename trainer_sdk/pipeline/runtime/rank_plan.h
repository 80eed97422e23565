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

// The rank's list with places dealt out: each micro-batch takes the lowest that
// is free. Pure. The schedule must be sound (CheckLowered).
//
// An evaluation has the same actions less the weights' parts, though backward
// passes do nothing then: their messages, of one byte, keep every rank from
// running further ahead of the next one than in training, so that what is under
// way is bounded as there, and no rank gets stuck for the same reasons.
RankPlan PlanRank(const PipelineSchedule& lowered, int rank,
                  PipelinePass::Purpose purpose);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_RANK_PLAN_H_
