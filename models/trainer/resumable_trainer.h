#ifndef MUSTER_MODELS_TRAINER_RESUMABLE_TRAINER_H_
#define MUSTER_MODELS_TRAINER_RESUMABLE_TRAINER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/trainer/gpt_checkpoint_state.h"
#include "models/trainer/gpt_step.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"

namespace muster::models {

// One rank's part of a training that runs step by step and can resume from a
// checkpoint, whatever the distribution of the model and the data. All calls
// but progress and State are collective. Not thread-safe.
class ResumableTrainer {
 public:
  virtual ~ResumableTrainer() = default;

  // Steps count from 0. OutOfRange: the gradient is not finite, and not because
  // of a loss scale.
  virtual absl::StatusOr<GptStep> Step(int64_t step) = 0;

  // The mean loss over windows of the text's last tenth, always the same
  // windows.
  virtual absl::StatusOr<double> Validate() = 0;

  // This rank's part of the state that the next step depends on, in host
  // memory, for checkpoints. The memory stays the same; call Restore after it
  // was written. Names and types do not depend on the device or the
  // distribution.
  virtual absl::StatusOr<std::vector<CheckpointSlice>> State() = 0;
  virtual const GptProgress& progress() const = 0;
  virtual absl::Status Restore(const GptProgress& progress) = 0;
};

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_RESUMABLE_TRAINER_H_
