#ifndef MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_RANK_PLAN_H_
#define MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_RANK_PLAN_H_

#include <vector>

#include "trainer_sdk/pipeline/runtime/pipeline_stage.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// One action of a rank in the schedule. If the action is a computation, also
// the arguments with which the rank calls the stage.
struct PlannedAction {
  Action action;
  // The arguments of the stage's pass; used only if the action is a
  // computation.
  PipelinePass pass;
};

// All actions that one rank performs in a step, in order.
struct RankPlan {
  std::vector<PlannedAction> actions;
  // For each of the rank's stages (rank, rank + p, ... with p ranks): the
  // number of activation slots, which is the largest number of micro-batches in
  // flight at the stage.
  std::vector<int> activation_slots;
};

// Makes the plan of `rank`: each micro-batch takes the lowest free slot for
// activations. The schedule must be valid (CheckLowered). Pure.
//
// An evaluation has the same actions except the computations of weight
// gradients. Its backward passes compute nothing; they only exchange messages
// of one byte. A rank waits for these messages as it does in training. So an
// evaluation has no more micro-batches in flight than training, and cannot
// deadlock if training cannot.
RankPlan PlanRank(const PipelineSchedule& lowered, int rank,
                  PipelinePass::Purpose purpose);

// A pair of ranks that are neighbours in a pipeline of p ranks: `rank`, and
// `next` = (rank + 1) % p.
struct Neighbours {
  int rank = 0;
  int next = 0;

  bool operator==(const Neighbours&) const = default;
};

// All pairs of neighbours that exchange messages, arranged in rounds. No rank
// occurs twice in a round. So one ProcessGroup::Split per round can make a
// group for each pair of the round. There are as few rounds as possible. The
// last rank and rank 0 are neighbours only if ranks have several stages. Pure.
std::vector<std::vector<Neighbours>> ChannelRounds(const PipelineShape& shape);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_RANK_PLAN_H_
