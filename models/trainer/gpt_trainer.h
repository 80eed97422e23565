#ifndef MUSTER_MODELS_TRAINER_GPT_TRAINER_H_
#define MUSTER_MODELS_TRAINER_GPT_TRAINER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/gpt/gpt_config.h"
#include "models/gpt/gpt_weights.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"
#include "trainer_sdk/optim/loss_scaler.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/timeline/trace_events.h"

namespace muster::models {

// The progress of the optimizer, in addition to its tensors.
struct GptProgress {
  // Number of steps that changed weights; less than the number of steps if the
  // loss scale was too high in some.
  int64_t updates = 0;
  LossScaler::State scaler;
};

// A checkpoint's state besides its tensors: sufficient to resume, and to
// generate text without any other file.
struct GptCheckpointState {
  GptConfig model;
  GptProgress progress;
  // The text of DescribeHyperparameters; used to report options that differ
  // when a training resumes.
  std::string hyperparameters;
  // The result of Vocabulary::Serialize.
  std::string vocabulary;
};

// Encodes the state: one line of JSON, followed by the vocabulary.
std::string ToBytes(const GptCheckpointState& state);
// Decodes a state. InvalidArgument: the bytes are no such state; the message
// says what is wrong.
absl::StatusOr<GptCheckpointState> ParseGptCheckpointState(
    std::string_view bytes);

// The results of a step.
struct GptStep {
  // Mean loss over the micro-batches of all ranks.
  double loss = 0;
  double learning_rate = 0;
  // Norm of the gradient before clipping; not finite in a step that was skipped
  // because the loss scale was too high.
  double gradient_norm = 0;
};

// The mean of `losses`, which is indexed by micro-batch. Each rank sets the
// losses that it computed; the others are 0. Collective.
absl::StatusOr<double> MeanLoss(ProcessGroup& world,
                                std::vector<double> losses);

// The error of a step whose gradient is not finite: OutOfRange.
absl::Status GradientIsNoNumber(int64_t step);

// One rank's part of a training that runs step by step and can resume from a
// checkpoint, whatever the distribution of the model and the data. All methods
// except progress and State are collective. Not thread-safe.
class ResumableTrainer {
 public:
  virtual ~ResumableTrainer() = default;

  // Performs a step. Steps count from 0. OutOfRange: the gradient is not
  // finite, and the loss scale is not the cause.
  virtual absl::StatusOr<GptStep> Step(int64_t step) = 0;

  // The mean loss over validation windows, always the same, from the last tenth
  // of the text.
  virtual absl::StatusOr<double> Validate() = 0;

  // This rank's part of the state that the next step depends on, in host
  // memory, for checkpoints. The addresses stay the same. Call Restore after
  // the memory was changed. Names and types do not depend on the device or the
  // distribution.
  virtual absl::StatusOr<std::vector<CheckpointSlice>> State() = 0;
  virtual const GptProgress& progress() const = 0;
  virtual absl::Status Restore(const GptProgress& progress) = 0;
};

// One rank's part of a data-parallel training on any device: the rank computes
// its share of each step's micro-batches, averages gradients during the
// backward pass, and runs AdamW, so that all ranks keep equal weights.
class GptTrainer : public ResumableTrainer {
 public:
  // The current weights in host memory; valid until the next call.
  virtual absl::StatusOr<GptWeights*> Weights() = 0;

  // The FLOP/s that all ranks together reach with matrix products only, for
  // MFU.
  virtual absl::StatusOr<double> MeasurePeak() = 0;

  // The timelines of the last steps of all ranks, on rank 0; empty on other
  // ranks. FailedPrecondition: the options name no file for a timeline.
  virtual absl::StatusOr<Timeline> GatherTimelines() = 0;
};

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_GPT_TRAINER_H_
