#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_KINDS_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_KINDS_H_

#include "trainer_sdk/pipeline/schedule/generators.h"

namespace muster {

// All enumerators of ScheduleKind, for tests. generators_test checks that none
// is missing.
inline constexpr ScheduleKind kScheduleKinds[] = {
    ScheduleKind::kGPipe, ScheduleKind::k1F1B, ScheduleKind::kInterleaved1F1B,
    ScheduleKind::kZeroBubble1P};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_KINDS_H_
