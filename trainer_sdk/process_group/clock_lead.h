#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_CLOCK_LEAD_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_CLOCK_LEAD_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// Measures by how many nanoseconds this rank's monotonic clock is ahead of rank
// 0's. With this value, timelines of several hosts can be drawn together. All
// ranks leave a barrier at nearly the same time, so each rank reads its clock
// after a barrier. The result is the median of the differences over several
// barriers, because a single barrier may return late on one rank. Collective
// and blocking.
absl::StatusOr<int64_t> ClockLead(ProcessGroup& group);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_CLOCK_LEAD_H_
