#ifndef MUSTER_TRAINER_SDK_TIMELINE_GATHER_TIMELINE_H_
#define MUSTER_TRAINER_SDK_TIMELINE_GATHER_TIMELINE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/timeline/timeline_span.h"

namespace muster {

// Gathers every rank's spans on rank 0, by rank and converted to rank 0's
// clock; empty on other ranks. ClockLead says how exact the conversion is.
// Collective and blocking.
absl::StatusOr<std::vector<std::vector<TimelineSpan>>> GatherTimeline(
    ProcessGroup& group, std::vector<TimelineSpan> spans);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TIMELINE_GATHER_TIMELINE_H_
