#ifndef MUSTER_MODELS_PIPELINE_TRAINER_PIPELINE_COURSE_H_
#define MUSTER_MODELS_PIPELINE_TRAINER_PIPELINE_COURSE_H_

#include <string>

#include "models/pipeline_trainer/pipeline_options.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// The same training as one that knows nothing of pipelines: micro-batches are
// those of all pipelines together. However ranks share it, it is this one, up
// to the order of sums, so this is what its checkpoints tell. Pure.
GptTrainingOptions AsWhole(const PipelineTrainingOptions& options,
                           const PipelineShape& shape, int world);

// How it is shared, which ranks must have alike, in lines as DescribeCourse's:
// "pp 2". Pure.
std::string DescribeSplit(const PipelineTrainingOptions& options,
                          const PipelineSchedule& schedule);

}  // namespace muster

#endif  // MUSTER_MODELS_PIPELINE_TRAINER_PIPELINE_COURSE_H_
