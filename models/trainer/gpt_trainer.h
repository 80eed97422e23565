#ifndef MUSTER_MODELS_TRAINER_GPT_TRAINER_H_
#define MUSTER_MODELS_TRAINER_GPT_TRAINER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/gpt/gpt_config.h"
#include "models/gpt/gpt_weights.h"
#include "models/text/vocabulary.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"
#include "trainer_sdk/optim/step_plan.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/timeline/trace_events.h"

namespace muster::models {

// The part of the optimizer's state that is not in tensors.
struct GptProgress {
  // Number of steps that changed the weights. Less than the number of steps if
  // steps were skipped because the loss scale was too high.
  int64_t updates = 0;
  LossScaler::State scaler;
};

// The part of a checkpoint that is not in tensors. This part and the tensors
// suffice to resume the training and to generate text; no other file is needed.
struct GptCheckpointState {
  GptConfig model;
  GptProgress progress;
  // The result of DescribeHyperparameters for the saved training; used to
  // report options that differ when a training resumes.
  std::string hyperparameters;
  // The vocabulary as bytes: the result of Vocabulary::Serialize.
  std::string vocabulary;
};

// Encodes the state as one line of JSON, followed by the vocabulary.
std::string ToBytes(const GptCheckpointState& state);
// Decodes a state. InvalidArgument: the bytes are not a state; the message
// names the problem.
absl::StatusOr<GptCheckpointState> ParseGptCheckpointState(
    std::string_view bytes);

// The results of one training step (ResumableTrainer::Step).
struct GptStep {
  // Mean loss over the micro-batches of all ranks.
  double loss = 0;
  double learning_rate = 0;
  // Norm of the gradient before clipping; not finite in a step that was skipped
  // because the loss scale was too high.
  double gradient_norm = 0;
};

// Returns the mean of the losses of all ranks. `losses` is indexed by
// micro-batch: each rank sets the elements that it computed, and sets all other
// elements to 0. Collective.
absl::StatusOr<double> MeanLoss(ProcessGroup& world,
                                std::vector<double> losses);

// Returns the error of a step whose gradient is not finite: OutOfRange.
absl::Status GradientIsNoNumber(int64_t step);

// One rank's part of a training that runs step by step and can resume from a
// checkpoint. The model and the data may be distributed in any way. All methods
// except progress and State are collective. Not thread-safe.
class ResumableTrainer {
 public:
  virtual ~ResumableTrainer() = default;

  // Performs step number `step`, counted from 0. If the gradient is not finite
  // because the loss scale is too high, skips the step without an error.
  // OutOfRange: the gradient is not finite for another reason.
  virtual absl::StatusOr<GptStep> Step(int64_t step) = 0;

  // Returns the mean loss over sequences from the last tenth of the text, which
  // is reserved for validation. Every call uses the same sequences.
  virtual absl::StatusOr<double> Validate() = 0;

  // Returns this rank's part of the state that the next step depends on, in
  // host memory, for checkpoints. The slices keep their addresses. To restore a
  // checkpoint, the caller overwrites the slices and then calls Restore. The
  // slices' names and types do not depend on the device, nor on how the
  // training is distributed over ranks.
  virtual absl::StatusOr<std::vector<CheckpointSlice>> State() = 0;
  virtual const GptProgress& progress() const = 0;
  virtual absl::Status Restore(const GptProgress& progress) = 0;
};

// One rank's part of a data-parallel training on any device. The rank computes
// its share of each step's micro-batches, averages gradients during the
// backward pass, and runs AdamW, so that all ranks keep equal weights.
class GptTrainer : public ResumableTrainer {
 public:
  // Returns the current weights in host memory; valid until the next call.
  virtual absl::StatusOr<GptWeights*> Weights() = 0;

  // Measures the FLOP/s that all ranks together reach with matrix products
  // only, as the peak for MFU (model FLOPs utilisation).
  virtual absl::StatusOr<double> MeasurePeak() = 0;

  // Returns the timelines of the last steps of all ranks on rank 0, and an
  // empty timeline on other ranks. FailedPrecondition: the options name no file
  // for a timeline.
  virtual absl::StatusOr<Timeline> GatherTimelines() = 0;
};

// Checks, before large memory is allocated, that the options, the text and the
// number of ranks are compatible. Collective. InvalidArgument: an option is
// invalid, not supported on GPUs, or excludes another one; the micro-batches
// are not a multiple of the number of ranks; or the text is too short.
// FailedPrecondition: ranks have other options or another text than rank 0.
absl::Status CheckTraining(const GptTrainingOptions& options,
                           const std::shared_ptr<const Tokens>& tokens,
                           ProcessGroup& world);

// Initialises the weights, from random numbers or from the file in the options;
// all ranks get the weights of rank 0. Collective. Errors are those of the file
// and of BroadcastParameters.
absl::Status FirstWeights(const GptTrainingOptions& options,
                          ProcessGroup& world, GptWeights* weights);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_GPT_TRAINER_H_
