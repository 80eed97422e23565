#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_H_

#include <cstddef>
#include <vector>

#include "trainer_sdk/pipeline/schedule/action.h"

namespace muster {

// The size of a pipeline.
struct PipelineShape {
  // p: how many ranks take part.
  int ranks = 1;
  // v: how many stages each rank has (model chunks).
  int stages_per_rank = 1;
  // m: how many micro-batches a step has.
  int micro_batches = 1;

  int stages() const { return ranks * stages_per_rank; }
  // Stages are dealt out in turns: rank r has r, r + p, r + 2p, ...
  int RankOf(int stage) const { return stage % ranks; }

  bool operator==(const PipelineShape&) const = default;
};

// What each rank does in one step, in order. An intermediate representation:
// generators make one, AddCommunication lowers it, the validator and the
// simulator look at it, the runtime performs it.
struct PipelineSchedule {
  PipelineShape shape;
  // By rank.
  std::vector<std::vector<Action>> ranks;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_H_
