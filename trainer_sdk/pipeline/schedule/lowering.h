#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_LOWERING_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_LOWERING_H_

#include "absl/status/statusor.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// Adds communication to a schedule. Inserts a send directly after each
// computation whose result another rank needs. To place the receives, simulates
// the schedule as if all actions took equally long. A receive is inserted at
// the position that the receiving rank has reached when the message is sent. So
// receives are posted early. The receives from one rank have the order of that
// rank's sends. InvalidArgument: the schedule is invalid (CheckComputations).
absl::StatusOr<PipelineSchedule> AddCommunication(
    const PipelineSchedule& schedule);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_LOWERING_H_
