#ifndef MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_MEASURED_TIMELINE_H_
#define MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_MEASURED_TIMELINE_H_

#include "absl/status/statusor.h"
#include "trainer_sdk/pipeline/runtime/pipeline_runtime.h"
#include "trainer_sdk/pipeline/schedule/simulator.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// The timeline of the last Step, in nanoseconds from the start of its first
// pass: input of DrawSchedule and MeasuredCosts. Collective over the pipeline's
// ranks, as `group` has them, after a Step; the same result on all. Clocks of
// hosts may differ: their offsets are measured at the ends of a few barriers,
// whose accuracy limits comparisons between ranks.
absl::StatusOr<PipelineTimeline> MeasuredTimeline(
    const PipelineRuntime& runtime, ProcessGroup& group);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_MEASURED_TIMELINE_H_
