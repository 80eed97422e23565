#ifndef MUSTER_TRAINER_SDK_EXAMPLES_GPT_PIPELINE_PIPELINE_OPTIONS_H_
#define MUSTER_TRAINER_SDK_EXAMPLES_GPT_PIPELINE_PIPELINE_OPTIONS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "trainer_sdk/examples/gpt/gpt_text.h"
#include "trainer_sdk/gpt/gpt_config.h"
#include "trainer_sdk/gpt/gpt_pipeline.h"
#include "trainer_sdk/optim/adamw.h"
#include "trainer_sdk/optim/learning_rate.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// How a transformer is trained by pipelines. The model's and the optimizer's
// defaults are those of the other example, nanoGPT's for a CPU.
struct PipelineTrainingOptions {
  GptTextFiles text;
  // JSON lines are added to it; empty: none.
  std::string log;
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

  GptConfig model{.vocabulary = 0,
                  .context = 64,
                  .layers = 4,
                  .heads = 4,
                  .width = 128,
                  .biases = GptConfig::Biases::kNone};
  // Windows in a micro-batch.
  int64_t batch = 12;
  int64_t steps = 2000;
  LearningRateSchedule learning_rate{
      .peak = 1e-3, .floor = 1e-4, .warmup = 100, .decay_until = 2000};
  AdamWOptions adamw{.beta2 = 0.99, .weight_decay = 0.1};
  GptPipelineOptions::State state = GptPipelineOptions::State::kReplicated;
  double clip = 1;
  uint64_t seed = 1337;
  int64_t log_every = 10;
  int64_t validate_every = 250;
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

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_EXAMPLES_GPT_PIPELINE_PIPELINE_OPTIONS_H_
