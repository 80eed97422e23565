#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SIMULATOR_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SIMULATOR_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// What the passes of a stage take, in any unit of time.
struct StageCost {
  int64_t forward = 1;
  int64_t input_backward = 1;
  // A whole backward takes as long as its two parts.
  int64_t weight_backward = 1;
};

struct PipelineCosts {
  // By stage, or one for all.
  std::vector<StageCost> stages = {StageCost{}};
  // From the end of a computation until another rank can use its result. A
  // rank goes on computing meanwhile.
  int64_t message = 0;
};

struct TimedAction {
  Action action;
  int64_t begin = 0;
  int64_t end = 0;
};

// How a schedule would go if each rank did each computation as soon as the one
// before it was done and what it needs was there.
struct PipelineTimeline {
  PipelineShape shape;
  // By rank; computations only, in order.
  std::vector<std::vector<TimedAction>> ranks;
  int64_t makespan = 0;
  // By rank: time spent computing.
  std::vector<int64_t> busy;
  // By rank: the most micro-batches, counted for each stage, whose activations
  // are held at one time: from the begin of the forward to the end of the
  // backward, its weights' part included.
  std::vector<int> most_held;

  // The share of idle time in what the busiest rank computes, the bubble over
  // the ideal: (p-1)/m for 1F1B with equal stages.
  double BubbleOverIdeal() const;
};

// What `ranks` says besides when what was done: makespan from 0 on, busy and
// most_held.
PipelineTimeline TimelineOf(const PipelineShape& shape,
                            std::vector<std::vector<TimedAction>> ranks);

// InvalidArgument: the schedule is not sound (CheckComputations), or costs are
// negative or not one for each stage. Sends and receives are not looked at.
absl::StatusOr<PipelineTimeline> Simulate(const PipelineSchedule& schedule,
                                          const PipelineCosts& costs);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SIMULATOR_H_
