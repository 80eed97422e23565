#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_CLOCK_LEAD_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_CLOCK_LEAD_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// By how many nanoseconds this rank's monotonic clock is ahead of rank 0's, for
// what is drawn of several hosts side by side: the median over the ends of
// several barriers, at each of which one rank or the other may be held up.
// Ranks' times are as exact to each other as these. Collective.
absl::StatusOr<int64_t> ClockLead(ProcessGroup& group);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_CLOCK_LEAD_H_
