#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_WALK_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_WALK_H_

#include "absl/status/status.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// When the result of a computation becomes available on another rank.
enum class Arrival {
  kAtOnce,
  // When the rank reaches the send after the computation.
  kWhenSent,
};

// Simulates the schedule: every rank does its actions in order, each as soon as
// its inputs are available. InvalidArgument: ranks deadlock; names them and the
// action at which each is blocked. Every action must fit the schedule's shape.
absl::Status WalkToTheEnd(const PipelineSchedule& schedule, Arrival delivery);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_WALK_H_
