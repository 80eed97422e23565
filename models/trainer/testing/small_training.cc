#include "models/trainer/testing/small_training.h"

#include "models/trainer/gpt_checkpoint.h"

namespace muster::models {

const CharVocabulary& Vocabulary11() {
  static const auto& vocabulary = *new CharVocabulary("abcdefghijk");
  return vocabulary;
}

absl::Status GoOnTo(int64_t last, const GptTrainingOptions& options,
                    ResumableTrainer& trainer, ProcessGroup& group,
                    ResumedTraining* result, Disturbance* disturb) {
  const bool tells = group.rank() == 0;
  const auto checkpoints =
      GptCheckpoints::Create(options, Vocabulary11(), trainer, group);
  if (!checkpoints.ok()) return checkpoints.status();
  const absl::StatusOr<int64_t> step = (*checkpoints)->Resume();
  if (!step.ok()) return step.status();
  if (tells) result->other_options = (*checkpoints)->other_options();
  for (int64_t i = *step; i < last; ++i) {
    const auto done = trainer.Step(i);
    if (!done.ok()) return done.status();
    if (tells) result->losses.push_back(done->loss);
    if (disturb == nullptr) continue;
    const absl::Status disturbed = DisturbState(trainer, *disturb);
    if (!disturbed.ok()) return disturbed;
  }
  const absl::Status status = (*checkpoints)->Save(last);
  return status.ok() ? (*checkpoints)->Wait() : status;
}

}  // namespace muster::models
