#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_WALK_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_WALK_H_

#include "absl/status/status.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// How what one rank computes becomes known to another.
enum class Arrival {
  kAtOnce,
  // When the rank has come to the send behind the computation.
  kWhenSent,
};

// Lets every rank do its actions in order, each as soon as what it needs is
// there. InvalidArgument: which ranks come to no end, and at which action each
// is stuck. Every action must be of the schedule's shape.
absl::Status WalkToTheEnd(const PipelineSchedule& schedule, Arrival delivery);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_WALK_H_
