#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SIMULATOR_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SIMULATOR_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// The durations of one stage's passes, in any unit of time.
struct StageCost {
  int64_t forward = 1;
  int64_t input_backward = 1;
  // The duration of the part of a backward pass that computes the gradients of
  // the weights. A whole backward pass takes as long as both of its parts.
  int64_t weight_backward = 1;
};

struct PipelineCosts {
  // The durations of passes, indexed by stage; or a single entry that holds for
  // all stages.
  std::vector<StageCost> stages = {StageCost{}};
  // The time from the end of a computation until another rank can use its
  // result, in the unit of `stages`. Meanwhile the sender continues to compute.
  int64_t message = 0;
};

struct TimedAction {
  Action action;
  int64_t begin = 0;
  int64_t end = 0;
};

// The computations of a schedule with their begin and end times, either
// simulated (Simulate) or measured (MeasuredTimeline).
struct PipelineTimeline {
  PipelineShape shape;
  // Indexed by rank: the rank's computations, in order.
  std::vector<std::vector<TimedAction>> ranks;
  int64_t makespan = 0;
  // Indexed by rank: the sum of the durations of the rank's computations, in
  // the unit of TimedAction.
  std::vector<int64_t> busy;
  // Indexed by rank: the largest number of activations that the rank holds at
  // one time, counted as pairs of micro-batch and stage. Activations are held
  // from the start of the forward pass to the end of the backward pass,
  // including the computation of weight gradients.
  std::vector<int> max_held;

  // The idle time of the busiest rank (the pipeline bubble), divided by that
  // rank's computing time. For 1F1B with p ranks, m micro-batches and equal
  // stages: (p-1)/m.
  double BubbleOverIdeal() const;
};

// Makes a timeline from the ranks' computations: adds makespan (measured from
// time 0), busy and max_held.
PipelineTimeline TimelineOf(const PipelineShape& shape,
                            std::vector<std::vector<TimedAction>> ranks);

// Computes the timeline of a schedule with the given costs. Each rank starts
// each computation as soon as the rank's previous computation is done and the
// input is available. Sends and receives in the schedule are ignored.
// InvalidArgument: the schedule is invalid (CheckComputations), a cost is
// negative or too large, or the number of costs is neither 1 nor the number of
// stages.
absl::StatusOr<PipelineTimeline> Simulate(const PipelineSchedule& schedule,
                                          const PipelineCosts& costs);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SIMULATOR_H_
