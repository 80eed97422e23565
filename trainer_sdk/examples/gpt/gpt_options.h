#ifndef MUSTER_TRAINER_SDK_EXAMPLES_GPT_GPT_OPTIONS_H_
#define MUSTER_TRAINER_SDK_EXAMPLES_GPT_GPT_OPTIONS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "trainer_sdk/gpt/gpt_config.h"
#include "trainer_sdk/gpt/gpt_stage.h"
#include "trainer_sdk/optim/adamw.h"
#include "trainer_sdk/optim/learning_rate.h"
#include "trainer_sdk/process_group/dtype.h"

namespace muster {

// How a transformer is trained. The defaults are nanoGPT's for a CPU: 4 layers,
// 4 heads, width 128, 12 windows of 64 characters, 2,000 steps.
struct GptTrainingOptions {
  std::string data;
  // JSON lines, one for each logged step; empty: none.
  std::string log;

  GptConfig model{.vocabulary = 0,
                  .context = 64,
                  .layers = 4,
                  .heads = 4,
                  .width = 128,
                  .biases = GptConfig::Biases::kNone};
  // What weights and gradients are rounded to: float32, bfloat16, float16.
  DType precision = DType::kFloat32;
  GptStage::Checkpointing checkpointing = GptStage::Checkpointing::kNone;
  // Windows in a micro-batch, and micro-batches of all ranks in a step.
  int64_t batch = 12;
  int64_t micro_batches = 1;
  int64_t steps = 2000;
  LearningRateSchedule learning_rate{
      .peak = 1e-3, .floor = 1e-4, .warmup = 100, .decay_until = 2000};
  AdamWOptions adamw{.beta2 = 0.99, .weight_decay = 0.1};
  // Of the gradient's norm; 0: none.
  double clip = 1;
  uint64_t seed = 1337;
  int64_t log_every = 10;
  int64_t validate_every = 250;
  int64_t validation_batches = 20;
  // Characters of text at the end; 0: none.
  int64_t sample = 0;
};

// InvalidArgument: what is wrong with which flag, or the help that was asked
// for, with exit code 0 in `exit_code`.
absl::StatusOr<GptTrainingOptions> ReadGptOptions(int argc, char** argv,
                                                  int* exit_code);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_EXAMPLES_GPT_GPT_OPTIONS_H_
