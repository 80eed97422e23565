#ifndef MUSTER_MODELS_PIPELINE_TRAINER_PIPELINE_OPTIONS_H_
#define MUSTER_MODELS_PIPELINE_TRAINER_PIPELINE_OPTIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster::models {

// Options of a transformer's training with pipeline parallelism.
struct PipelineTrainingOptions {
  // The options that `gpt train` has as well, with the same defaults. The
  // fields `micro_batches` and `validation_batches` are not used: AsWhole
  // computes their values from the number of pipelines.
  GptTrainingOptions training;
  // File for a picture of the last step's timeline; empty: none.
  std::string svg;

  // Number of ranks per pipeline; 0: all ranks.
  int ranks = 0;
  // Number of stages per rank.
  int chunks = 1;
  std::string schedule = "1f1b";
  // A CSV file with a schedule; empty: none. It replaces `ranks`, `chunks`,
  // `schedule` and `micro_batches`.
  std::string schedule_csv;
  // Number of micro-batches per pipeline and step.
  int micro_batches = 8;
};

// Parses the command line. InvalidArgument: a flag is wrong; the message names
// the flag and the problem. If help was requested, the message is the help text
// and `exit_code` is 0.
absl::StatusOr<PipelineTrainingOptions> ReadPipelineOptions(int argc,
                                                            char** argv,
                                                            int* exit_code);

// Returns the requested schedule for a world of `world` ranks. InvalidArgument,
// NotFound: no such schedule can be made; the message says why.
absl::StatusOr<PipelineSchedule> ChosenSchedule(
    const PipelineTrainingOptions& options, int world);

// Returns a text such as "2 pipelines of 2 ranks with 1 stage each".
std::string DescribePipelines(const PipelineShape& shape, int world);

// Returns the options of the equivalent training without pipelines, whose
// micro-batches are those of all pipelines together. Every division into
// pipelines computes this training, up to the order of sums, so checkpoints
// contain these options. Pure.
GptTrainingOptions AsWhole(const PipelineTrainingOptions& options,
                           const PipelineShape& shape, int world);

// Describes the division into pipelines, which must be equal on all ranks, in
// lines like those of DescribeHyperparameters: "pp 2". Pure.
std::string DescribeSplit(const PipelineTrainingOptions& options,
                          const PipelineSchedule& schedule);

}  // namespace muster::models

#endif  // MUSTER_MODELS_PIPELINE_TRAINER_PIPELINE_OPTIONS_H_
