#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_LOWERING_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_LOWERING_H_

#include "absl/status/statusor.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// Adds communication to a schedule: a send directly after each computation
// whose result another rank needs. The receive is put where the other rank is
// when the result is sent, assuming that every action takes the same time. So
// receives are posted early, and receives between two ranks have the order of
// the sends. InvalidArgument: the schedule is invalid (CheckComputations).
absl::StatusOr<PipelineSchedule> AddCommunication(
    const PipelineSchedule& schedule);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_LOWERING_H_
