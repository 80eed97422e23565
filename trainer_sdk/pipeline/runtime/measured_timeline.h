#ifndef MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_MEASURED_TIMELINE_H_
#define MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_MEASURED_TIMELINE_H_

#include "absl/status/statusor.h"
#include "trainer_sdk/pipeline/runtime/pipeline_runtime.h"
#include "trainer_sdk/pipeline/schedule/simulator.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// How the last Step went, in nanoseconds from the begin of its first pass: what
// DrawSchedule draws and MeasuredCosts takes. Collective over the pipeline's
// ranks, as `group` has them, after a Step; the same on all. Clocks
// of hosts need not agree: they are compared at the ends of a few barriers, and
// ranks' times are as exact to each other as these.
absl::StatusOr<PipelineTimeline> MeasuredTimeline(
    const PipelineRuntime& runtime, ProcessGroup& group);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_MEASURED_TIMELINE_H_
