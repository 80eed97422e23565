#ifndef MUSTER_MODELS_TRAINER_TRAINING_OPTIONS_H_
#define MUSTER_MODELS_TRAINER_TRAINING_OPTIONS_H_

#include <cstdint>
#include <string>

#include "models/gpt/gpt_config.h"
#include "models/gpt/gpt_stage.h"
#include "models/trainer/text/gpt_text.h"
#include "trainer_sdk/optim/adamw.h"
#include "trainer_sdk/optim/learning_rate.h"
#include "trainer_sdk/optim/loss_scaler.h"
#include "trainer_sdk/process_group/dtype.h"

namespace muster {

// How a transformer is trained. The defaults are nanoGPT's for a CPU: 4 layers,
// 4 heads, width 128, 12 windows of 64 characters, 2,000 steps.
struct GptTrainingOptions {
  GptTextFiles text;
  // TextFingerprint, of what is in them; empty: ranks and checkpoints are not
  // compared in that.
  std::string text_fingerprint;
  // JSON lines are added to it; empty: none.
  std::string log;
  // A timeline of the last steps goes here at the end; empty: none is recorded.
  std::string timeline;
  int64_t timeline_steps = 3;

  // Where checkpoints are, and where training goes on from if there is one;
  // empty: none.
  std::string checkpoint_directory;
  // Steps; the last one is saved in any case.
  int64_t checkpoint_every = 250;
  int keep_checkpoints = 2;
  // Weights to begin with (safetensors, Hugging Face's names); empty: drawn.
  std::string initial_weights;

  GptConfig model{.vocabulary = 0,
                  .context = 64,
                  .layers = 4,
                  .heads = 4,
                  .width = 128,
                  .biases = GptConfig::Biases::kNone};
  // What computes: the host's processors, or a GPU for each rank.
  enum class Device { kCpu, kCuda } device = Device::kCpu;
  // What weights and gradients are rounded to: float32, bfloat16, float16.
  DType precision = DType::kFloat32;
  LossScalerOptions loss_scale;
  GptStage::Checkpointing checkpointing = GptStage::Checkpointing::kNone;
  // Whether every rank keeps all of the optimizer's state, or a share of it.
  enum class Sharding { kNone, kZero1 } sharding = Sharding::kNone;
  // In which order the gradients of a step's micro-batches are added: those of
  // a rank, then those of the ranks, as the transport does it; or in pairs, so
  // that the same is trained bit for bit on any number of ranks (powers of two,
  // float32).
  enum class GradientOrder {
    kByRank,
    kPairwise
  } order = GradientOrder::kByRank;

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
  // FLOP/s of all ranks, for MFU; 0: measured.
  double peak = 0;
  // Tokens of text at the end; 0: none.
  int64_t sample = 0;
};

}  // namespace muster

#endif  // MUSTER_MODELS_TRAINER_TRAINING_OPTIONS_H_
