#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_LOWERING_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_LOWERING_H_

#include "absl/status/statusor.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// The same schedule with its communication: a send right behind each
// computation whose result another rank needs, and the receive on that rank at
// the place that it has reached when the result is sent, if every action takes
// the same time. So a receive is posted early, and receives between two ranks
// have the order of the sends. InvalidArgument: the schedule is not sound
// (CheckComputations).
absl::StatusOr<PipelineSchedule> AddCommunication(
    const PipelineSchedule& schedule);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_LOWERING_H_
