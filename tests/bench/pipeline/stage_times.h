#ifndef MUSTER_TESTS_BENCH_PIPELINE_STAGE_TIMES_H_
#define MUSTER_TESTS_BENCH_PIPELINE_STAGE_TIMES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "trainer_sdk/pipeline/runtime/pipeline_stage.h"
#include "trainer_sdk/pipeline/schedule/simulator.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// What stages' passes take without a pipeline: each rank does the passes of its
// own list, in order, without waiting for anything or sending anything, while
// the other ranks do theirs. Collective over `group`; by stage, the median of
// each kind of pass, the same on every rank. `lowered` is a schedule that a
// PipelineRuntime has made ready `stages` for, so that they have their places.
absl::StatusOr<PipelineCosts> MeasureStagesAlone(
    ProcessGroup& group, const PipelineSchedule& lowered,
    const std::vector<PipelineStage*>& stages);

}  // namespace muster

#endif  // MUSTER_TESTS_BENCH_PIPELINE_STAGE_TIMES_H_
