#ifndef MUSTER_MODELS_TRAINER_GPT_CHECKPOINT_STATE_H_
#define MUSTER_MODELS_TRAINER_GPT_CHECKPOINT_STATE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/gpt/gpt_config.h"
#include "trainer_sdk/optim/loss_scaler.h"

namespace muster::models {

// The optimizer's progress, in addition to its tensors.
struct GptProgress {
  // Steps that changed weights; fewer than all steps if the loss scale was too
  // high in some.
  int64_t updates = 0;
  LossScaler::State scaler;
};

// A checkpoint's state besides its tensors: sufficient to resume, and to
// generate text without any other file.
struct GptCheckpointState {
  GptConfig model;
  GptProgress progress;
  // DescribeCourse; used to report options that differ when a training resumes.
  std::string course;
  // Vocabulary::Serialize.
  std::string vocabulary;
};

// One line of JSON, followed by the vocabulary.
std::string ToBytes(const GptCheckpointState& state);
// InvalidArgument: the bytes are no such state; says what is wrong.
absl::StatusOr<GptCheckpointState> ParseGptCheckpointState(
    std::string_view bytes);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_GPT_CHECKPOINT_STATE_H_
