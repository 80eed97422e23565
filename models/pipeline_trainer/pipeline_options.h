#ifndef MUSTER_MODELS_PIPELINE_TRAINER_PIPELINE_OPTIONS_H_
#define MUSTER_MODELS_PIPELINE_TRAINER_PIPELINE_OPTIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster::models {

// Options of a transformer's training by pipelines.
struct PipelineTrainingOptions {
  // The options of `gpt train`, with its defaults. AsWhole sets the options
  // that depend on the number of pipelines.
  GptTrainingOptions training;
  // File for a picture of the last step's timeline; empty: none.
  std::string svg;

  // Number of ranks per pipeline; 0: all ranks.
  int ranks = 0;
  // Number of stages per rank.
  int chunks = 1;
  std::string schedule = "1f1b";
  // A CSV file with a schedule, which replaces the three options above and
  // `micro_batches`.
  std::string schedule_csv;
  // Number of micro-batches per pipeline and step.
  int micro_batches = 8;
};

// Parses the command line. InvalidArgument: the message names the flag and says
// what is wrong; or it is the requested help, with `exit_code` 0.
absl::StatusOr<PipelineTrainingOptions> ReadPipelineOptions(int argc,
                                                            char** argv,
                                                            int* exit_code);

// The requested schedule in a world of `world` ranks. InvalidArgument,
// NotFound: the message says why there is none.
absl::StatusOr<PipelineSchedule> ChosenSchedule(
    const PipelineTrainingOptions& options, int world);

// A text such as "2 pipelines of 2 ranks with 1 stage each".
std::string DescribePipelines(const PipelineShape& shape, int world);

// The options of the equivalent training without pipelines: its micro-batches
// are those of all pipelines together. Every division into pipelines computes
// this training, up to the order of sums, so checkpoints have these options.
// Pure.
GptTrainingOptions AsWhole(const PipelineTrainingOptions& options,
                           const PipelineShape& shape, int world);

// The division into pipelines, which must be equal on all ranks, in lines like
// those of DescribeHyperparameters: "pp 2". Pure.
std::string DescribeSplit(const PipelineTrainingOptions& options,
                          const PipelineSchedule& schedule);

}  // namespace muster::models

#endif  // MUSTER_MODELS_PIPELINE_TRAINER_PIPELINE_OPTIONS_H_
