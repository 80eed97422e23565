#ifndef MUSTER_MODELS_TRAINER_GPT_CHECKPOINT_STATE_H_
#define MUSTER_MODELS_TRAINER_GPT_CHECKPOINT_STATE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/gpt/gpt_config.h"
#include "trainer_sdk/optim/loss_scaler.h"

namespace muster {

// How far the optimizer is, besides its tensors.
struct GptProgress {
  // Steps that changed weights; fewer than steps where a loss scale was too
  // high.
  int64_t updates = 0;
  LossScaler::State scaler;
};

// What a checkpoint says besides its tensors: enough to go on, and to write
// text without any other file.
struct GptCheckpointState {
  GptConfig model;
  GptProgress progress;
  // DescribeCourse: to say so where a training goes on as another one.
  std::string course;
  // Vocabulary::Serialize.
  std::string vocabulary;
};

// One line of JSON, and behind it the vocabulary as it is.
std::string ToBytes(const GptCheckpointState& state);
// InvalidArgument: nothing of the kind, and what is wrong.
absl::StatusOr<GptCheckpointState> ParseGptCheckpointState(
    std::string_view bytes);

}  // namespace muster

#endif  // MUSTER_MODELS_TRAINER_GPT_CHECKPOINT_STATE_H_
