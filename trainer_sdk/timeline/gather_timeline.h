#ifndef MUSTER_TRAINER_SDK_TIMELINE_GATHER_TIMELINE_H_
#define MUSTER_TRAINER_SDK_TIMELINE_GATHER_TIMELINE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/timeline/timeline_span.h"

namespace muster {

// Every rank's spans, by rank and by rank 0's clock: on rank 0; elsewhere
// empty. Each rank's are by its own monotonic clock (ClockLead says how exact
// they are to each other). Collective.
absl::StatusOr<std::vector<std::vector<TimelineSpan>>> GatherTimeline(
    ProcessGroup& group, std::vector<TimelineSpan> spans);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TIMELINE_GATHER_TIMELINE_H_
