#ifndef MUSTER_MODELS_TRAINER_RESUMABLE_TRAINER_H_
#define MUSTER_MODELS_TRAINER_RESUMABLE_TRAINER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/trainer/gpt_checkpoint_state.h"
#include "models/trainer/gpt_step.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"

namespace muster {

// One rank's part of a training that goes step by step, and on from a
// checkpoint, however the ranks share the model and the data. All calls but
// progress and State are collective. One thread at a time.
class ResumableTrainer {
 public:
  virtual ~ResumableTrainer() = default;

  // Steps count from 0. OutOfRange: the gradient is no number, and no loss
  // scale is to blame.
  virtual absl::StatusOr<GptStep> Step(int64_t step) = 0;

  // The mean loss over windows of the text's last tenth, the same ones each
  // time.
  virtual absl::StatusOr<double> Validate() = 0;

  // All that the next step depends on, as it is now: this rank's part of it, in
  // the host's memory, for checkpoints. Places stay the same; after they were
  // written from outside, Restore. Names and types are the same wherever the
  // training computes, and however it is shared.
  virtual absl::StatusOr<std::vector<CheckpointSlice>> State() = 0;
  virtual const GptProgress& progress() const = 0;
  virtual absl::Status Restore(const GptProgress& progress) = 0;
};

}  // namespace muster

#endif  // MUSTER_MODELS_TRAINER_RESUMABLE_TRAINER_H_
