#ifndef MUSTER_MODELS_PIPELINE_TRAINER_PIPELINE_OPTIONS_H_
#define MUSTER_MODELS_PIPELINE_TRAINER_PIPELINE_OPTIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// How a transformer is trained by pipelines.
struct PipelineTrainingOptions {
  // What the other example has too, with its defaults; of these AsWhole fills
  // in what depends on the number of pipelines.
  GptTrainingOptions training;
  // Where the picture of the last step goes; empty: nowhere.
  std::string svg;

  // Ranks of a pipeline; 0: all that there are.
  int ranks = 0;
  // Stages that each of them has.
  int chunks = 1;
  std::string schedule = "1f1b";
  // A file with a schedule, in place of the three above and `micro_batches`.
  std::string schedule_csv;
  // Of each pipeline, in a step.
  int micro_batches = 8;
};

// InvalidArgument: what is wrong with which flag, or the help that was asked
// for, with exit code 0 in `exit_code`.
absl::StatusOr<PipelineTrainingOptions> ReadPipelineOptions(int argc,
                                                            char** argv,
                                                            int* exit_code);

// The schedule that is asked for in a world of `world` ranks. InvalidArgument,
// NotFound: why there is none.
absl::StatusOr<PipelineSchedule> ChosenSchedule(
    const PipelineTrainingOptions& options, int world);

// "2 pipelines of 2 ranks with 1 stage each".
std::string DescribePipelines(const PipelineShape& shape, int world);

}  // namespace muster

#endif  // MUSTER_MODELS_PIPELINE_TRAINER_PIPELINE_OPTIONS_H_
