#ifndef MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_RANK_PLAN_H_
#define MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_RANK_PLAN_H_

#include <vector>

#include "trainer_sdk/pipeline/runtime/pipeline_stage.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// One action of a rank, with its arguments.
struct PlannedAction {
  Action action;
  // The argument for the stage; only for computations.
  PipelinePass pass;
};

// All actions of one rank in a step, in order.
struct RankPlan {
  std::vector<PlannedAction> actions;
  // Indexed by chunk (stages rank, rank + p, ...): the number of slots for
  // activations, which is the largest number of micro-batches in flight at the
  // stage.
  std::vector<int> activation_slots;
};

// Makes a rank's plan: each micro-batch takes the lowest free slot for
// activations. The schedule must be valid (CheckLowered). Pure.
//
// An evaluation has the same actions except the weights' backward. Its backward
// passes do nothing but exchange messages of one byte. These messages keep each
// rank from running further ahead of its neighbour than in training, so that
// the number of micro-batches in flight has the same bound, and a schedule
// without deadlock in training has none here.
RankPlan PlanRank(const PipelineSchedule& lowered, int rank,
                  PipelinePass::Purpose purpose);

// Two neighbouring ranks of a pipeline: `rank`, and `next` = (rank + 1) % p.
struct Neighbours {
  int rank = 0;
  int next = 0;

  bool operator==(const Neighbours&) const = default;
};

// All pairs of neighbours that exchange messages, arranged in as few rounds as
// possible, so that no rank occurs twice in a round. One ProcessGroup::Split
// per round makes the groups of two ranks. The last and the first rank are
// neighbours if ranks have several stages. Pure.
std::vector<std::vector<Neighbours>> ChannelRounds(const PipelineShape& shape);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_RANK_PLAN_H_
