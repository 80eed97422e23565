#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_CLOCK_LEAD_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_CLOCK_LEAD_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// Measures by how many nanoseconds this rank's monotonic clock is ahead of rank
// 0's, so that timelines of several hosts can be drawn together. The value is
// the median over the ends of several barriers, because any single barrier may
// return late on one rank. The error of this value limits how exactly times of
// different ranks can be compared. Collective and blocking.
absl::StatusOr<int64_t> ClockLead(ProcessGroup& group);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_CLOCK_LEAD_H_
