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
  // A whole backward takes as long as both of its parts.
  int64_t weight_backward = 1;
};

struct PipelineCosts {
  // By stage, or one entry for all stages.
  std::vector<StageCost> stages = {StageCost{}};
  // Time from the end of a computation until another rank can use its result.
  // The sender computes on meanwhile.
  int64_t message = 0;
};

struct TimedAction {
  Action action;
  int64_t begin = 0;
  int64_t end = 0;
};

// The timeline of a schedule when each rank starts each computation as soon as
// its previous one is done and the input is available.
struct PipelineTimeline {
  PipelineShape shape;
  // By rank: its computations, in order.
  std::vector<std::vector<TimedAction>> ranks;
  int64_t makespan = 0;
  // By rank: total computing time.
  std::vector<int64_t> busy;
  // By rank: the largest number of micro-batches, counted for each stage, whose
  // activations are held at one time, from the start of the forward to the end
  // of the backward including the weights' part.
  std::vector<int> max_held;

  // The pipeline bubble over the ideal time: idle time divided by the computing
  // time of the busiest rank. (p-1)/m for 1F1B with equal stages.
  double BubbleOverIdeal() const;
};

// Makes a timeline of `ranks` by computing makespan (from 0), busy and
// max_held.
PipelineTimeline TimelineOf(const PipelineShape& shape,
                            std::vector<std::vector<TimedAction>> ranks);

// InvalidArgument: the schedule is not sound (CheckComputations), or the costs
// are negative or their number is wrong. Sends and receives are ignored.
absl::StatusOr<PipelineTimeline> Simulate(const PipelineSchedule& schedule,
                                          const PipelineCosts& costs);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SIMULATOR_H_
