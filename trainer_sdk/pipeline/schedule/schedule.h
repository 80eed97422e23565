#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_H_

#include <cstddef>
#include <vector>

#include "trainer_sdk/pipeline/schedule/action.h"

namespace muster {

// The size of a pipeline.
struct PipelineShape {
  // p: the number of ranks.
  int ranks = 1;
  // v: the number of stages (model chunks) on each rank.
  int stages_per_rank = 1;
  // m: the number of micro-batches in a step.
  int micro_batches = 1;

  int stages() const { return ranks * stages_per_rank; }
  // Stages are assigned round-robin: rank r has r, r + p, r + 2p, ...
  int RankOf(int stage) const { return stage % ranks; }

  bool operator==(const PipelineShape&) const = default;
};

// The actions of every rank in one step, in order. This is the intermediate
// representation: generators produce it, AddCommunication lowers it, the
// validator and the simulator read it, the runtime executes it.
struct PipelineSchedule {
  PipelineShape shape;
  // Actions by rank.
  std::vector<std::vector<Action>> ranks;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_H_
