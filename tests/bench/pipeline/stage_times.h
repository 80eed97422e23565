#ifndef MUSTER_TESTS_BENCH_PIPELINE_STAGE_TIMES_H_
#define MUSTER_TESTS_BENCH_PIPELINE_STAGE_TIMES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "trainer_sdk/pipeline/runtime/pipeline_stage.h"
#include "trainer_sdk/pipeline/schedule/simulator.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// Measures how long the passes of the pipeline's stages take if no messages are
// sent. Each rank runs its part of the schedule in order, while the other ranks
// run theirs. Collective over `group`. Returns the median time for each stage
// and kind of pass. All ranks get the same result.
//
// `lowered`: a schedule for which a PipelineRuntime has prepared `stages`, so
// that the stages have their buffers.
absl::StatusOr<PipelineCosts> MeasureStagesAlone(
    ProcessGroup& group, const PipelineSchedule& lowered,
    const std::vector<PipelineStage*>& stages);

}  // namespace muster

#endif  // MUSTER_TESTS_BENCH_PIPELINE_STAGE_TIMES_H_
