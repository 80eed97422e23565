#ifndef MUSTER_MODELS_TRAINER_TRAINING_OPTIONS_H_
#define MUSTER_MODELS_TRAINER_TRAINING_OPTIONS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "models/gpt/gpt_config.h"
#include "models/gpt/gpt_stage.h"
#include "models/trainer/text/gpt_text.h"
#include "trainer_sdk/optim/learning_rate.h"
#include "trainer_sdk/optim/step_plan.h"
#include "trainer_sdk/optim/update_rule.h"
#include "trainer_sdk/process_group/dtype.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster::models {

// The options of a transformer's training. The defaults are nanoGPT's for a
// CPU: 4 layers, 4 heads, width 128, micro-batches of 12 windows of 64
// characters, 2,000 steps.
struct GptTrainingOptions {
  GptTextFiles text;
  // The TextFingerprint of the content of `text`. It must be equal on all
  // ranks, and equal to that in the checkpoint from which the training
  // continues. Empty: this is not checked.
  std::string text_fingerprint;
  // File to which the training appends its progress as JSON lines; empty: none.
  std::string log;
  // File for a timeline of the last steps; empty: no timeline is recorded.
  std::string timeline;
  int64_t timeline_steps = 3;

  // Directory of the checkpoints; empty: none. If it has a checkpoint, the
  // training resumes from it.
  std::string checkpoint_directory;
  // Number of steps between checkpoints. The state after the last step is
  // always saved.
  int64_t checkpoint_every = 250;
  int keep_checkpoints = 2;
  // File with initial weights (safetensors with Hugging Face's names); empty:
  // initial weights are random.
  std::string initial_weights;

  GptConfig model{.vocabulary = 0,
                  .context = 64,
                  .layers = 4,
                  .heads = 4,
                  .width = 128,
                  .biases = GptConfig::Biases::kNone};
  // The device for the computations: the host's processors, or one GPU per
  // rank.
  enum class Device { kCpu, kCuda } device = Device::kCpu;
  // The type to which weights and gradients are rounded: float32, bfloat16,
  // float16.
  DType precision = DType::kFloat32;
  LossScalerOptions loss_scale;
  GptStage::Checkpointing checkpointing = GptStage::Checkpointing::kNone;
  // Whether every rank keeps the whole optimizer state (kNone) or a share of it
  // (kZero1).
  enum class Sharding { kNone, kZero1 } sharding = Sharding::kNone;
  // The order in which the gradients of a step's micro-batches are added.
  // kByRank: each rank first adds its own gradients; then the sums of the ranks
  // are added in the transport's order. kPairwise: gradients are added in
  // pairs, then the sums in pairs, and so on. With float32 and kPairwise, a
  // training is bit-identical on any number of ranks that is a power of two.
  enum class GradientOrder {
    kByRank,
    kPairwise
  } order = GradientOrder::kByRank;

  int64_t batch = 12;         // number of windows per micro-batch
  int64_t micro_batches = 1;  // micro-batches of all ranks together per step
  int64_t steps = 2000;
  LearningRateSchedule learning_rate{
      .peak = 1e-3, .floor = 1e-4, .warmup = 100, .decay_until = 2000};
  AdamWOptions adamw{.beta2 = 0.99, .weight_decay = 0.1};
  // Maximum norm of the gradient (gradient clipping); 0: no clipping.
  double clip = 1;
  uint64_t seed = 1337;

  int64_t log_every = 10;
  int64_t validate_every = 250;
  int64_t validation_batches = 20;
  // Peak FLOP/s of all ranks, for MFU (model FLOPs utilisation); 0: the peak is
  // measured.
  double peak = 0;
  // Number of tokens of text to generate after the training; 0: none.
  int64_t sample = 0;
};

// Returns the options that determine the losses of a training, one per line:
// "seed 1337". The text is stored in checkpoints, so that a resumed training
// can report differences. Pure.
std::string DescribeHyperparameters(const GptTrainingOptions& options);
// Returns the lines of DescribeHyperparameters that describe the model. They
// must be equal for a training to resume from a checkpoint. Pure.
std::string DescribeModel(const GptConfig& model);
std::string DescribePrecision(const GptTrainingOptions& options);

// Returns the options that must be equal on all ranks, but are not in
// DescribeHyperparameters, because a training that resumes may change them. One
// per line: "steps 2000". Pure.
std::string DescribeJointWork(const GptTrainingOptions& options);

// Returns the differences between the texts `is` and `was`, two results of
// DescribeHyperparameters, such as "batch 12, was 8; seed 1337, was 7"; empty:
// none. Options that are missing in `is` are ignored. Pure.
std::string HyperparameterDifference(const std::string& is,
                                     const std::string& was,
                                     const char* between = ", was ");

// Compares the settings in `text`, one per line, on all ranks. Collective.
// FailedPrecondition on every rank: the lines of a rank differ from rank 0's;
// the message names the rank and the differences.
absl::Status CheckSameHyperparameters(ProcessGroup& world,
                                      const std::string& text);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_TRAINING_OPTIONS_H_
