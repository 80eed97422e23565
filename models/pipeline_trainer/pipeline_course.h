#ifndef MUSTER_MODELS_PIPELINE_TRAINER_PIPELINE_COURSE_H_
#define MUSTER_MODELS_PIPELINE_TRAINER_PIPELINE_COURSE_H_

#include <string>

#include "models/pipeline_trainer/pipeline_options.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster::models {

// The options of the equivalent training without pipelines: its micro-batches
// are those of all pipelines together. Any split of the ranks computes this
// training, up to the order of sums, so checkpoints describe this one. Pure.
GptTrainingOptions AsWhole(const PipelineTrainingOptions& options,
                           const PipelineShape& shape, int world);

// The split, which must be equal on all ranks, in lines as those of
// DescribeCourse: "pp 2". Pure.
std::string DescribeSplit(const PipelineTrainingOptions& options,
                          const PipelineSchedule& schedule);

}  // namespace muster::models

#endif  // MUSTER_MODELS_PIPELINE_TRAINER_PIPELINE_COURSE_H_
