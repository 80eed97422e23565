#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SIMULATOR_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SIMULATOR_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// The durations of a stage's passes, in any unit of time.
struct StageCost {
  int64_t forward = 1;
  int64_t input_backward = 1;
  // Time of the weights' part of a backward pass. A whole backward pass takes
  // as long as both of its parts.
  int64_t weight_backward = 1;
};

struct PipelineCosts {
  // The durations of the passes of each stage, indexed by stage; or a single
  // entry that holds for all stages.
  std::vector<StageCost> stages = {StageCost{}};
  // Time from the end of a computation until another rank can use its result,
  // in the unit of `stages`. The sender continues to compute meanwhile.
  int64_t message = 0;
};

struct TimedAction {
  Action action;
  int64_t begin = 0;
  int64_t end = 0;
};

// The timeline of a schedule in which each rank starts each computation as soon
// as the rank's previous computation is done and the input is available.
struct PipelineTimeline {
  PipelineShape shape;
  // Indexed by rank: the rank's computations, in order.
  std::vector<std::vector<TimedAction>> ranks;
  int64_t makespan = 0;
  // Indexed by rank: the rank's total computing time, in the unit of `ranks`.
  std::vector<int64_t> busy;
  // Indexed by rank: the largest number of micro-batches, counted separately
  // for each stage, whose activations are held at one time, from the start of
  // the forward pass to the end of the backward pass, including its weights'
  // part.
  std::vector<int> max_held;

  // The pipeline bubble: idle time divided by the computing time of the busiest
  // rank. (p-1)/m for 1F1B with equal stages.
  double BubbleOverIdeal() const;
};

// Makes a timeline of `ranks` by computing makespan (from 0), busy and
// max_held.
PipelineTimeline TimelineOf(const PipelineShape& shape,
                            std::vector<std::vector<TimedAction>> ranks);

// Computes the timeline; ignores sends and receives. InvalidArgument: the
// schedule is invalid (CheckComputations), or costs are negative or their
// number is wrong.
absl::StatusOr<PipelineTimeline> Simulate(const PipelineSchedule& schedule,
                                          const PipelineCosts& costs);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SIMULATOR_H_
