#ifndef MUSTER_MODELS_TRAINER_GPT_CHECKPOINT_H_
#define MUSTER_MODELS_TRAINER_GPT_CHECKPOINT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/gpt/gpt_weights.h"
#include "models/text/vocabulary.h"
#include "models/trainer/resumable_trainer.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/checkpoint/checkpoint_writer.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// A training's checkpoints.
class GptCheckpoints {
 public:
  // Collective. Everything must outlive it.
  static absl::StatusOr<std::unique_ptr<GptCheckpoints>> Create(
      const GptTrainingOptions& options, const Vocabulary& vocabulary,
      ResumableTrainer& trainer, ProcessGroup& world);

  // Collective: puts the trainer where the newest checkpoint was; how many
  // steps it has done, 0 if there is no checkpoint. FailedPrecondition: it is
  // of another model, another precision or another vocabulary, and in what.
  absl::StatusOr<int64_t> Resume();
  // What is to be said of it: the folder, and which ones were passed over.
  const std::string& resumed_from() const { return resumed_from_; }
  // In what this training has other options than the one that was saved; empty:
  // nothing.
  const std::string& other_options() const { return other_options_; }

  // Of writers that died, and could not be cleared away.
  const std::vector<std::string>& left_over() const {
    return writer_->left_over();
  }

  // Collective: behind `step`. The writing goes on beside the training.
  absl::Status Save(int64_t step);
  // Until it is written.
  absl::Status Wait() { return writer_->Wait(); }

 private:
  GptCheckpoints(const GptTrainingOptions& options,
                 const Vocabulary& vocabulary, ResumableTrainer& trainer,
                 ProcessGroup& world);

  const GptTrainingOptions& options_;
  const std::string vocabulary_;
  ResumableTrainer& trainer_;
  ProcessGroup& world_;
  std::unique_ptr<ProcessGroup> group_;
  std::unique_ptr<CheckpointWriter> writer_;
  std::string resumed_from_;
  std::string other_options_;
};

// What a checkpoint holds for those who do not train.
struct TrainedGpt {
  int64_t step = 0;
  // Where it was, and what was passed over because it is not whole.
  std::string from;
  std::unique_ptr<GptWeights> weights;
  std::unique_ptr<Vocabulary> vocabulary;
};

// The newest whole one. NotFound, DataLoss, InvalidArgument: why there is none.
absl::StatusOr<TrainedGpt> OpenTrainedGpt(const std::string& directory);

}  // namespace muster

#endif  // MUSTER_MODELS_TRAINER_GPT_CHECKPOINT_H_
