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
#include "models/trainer/gpt_trainer.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/checkpoint/checkpoint_writer.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster::models {

// Saves and restores the checkpoints of a training.
class GptCheckpoints {
 public:
  // Collective. All arguments must outlive this object.
  static absl::StatusOr<std::unique_ptr<GptCheckpoints>> Create(
      const GptTrainingOptions& options, const Vocabulary& vocabulary,
      ResumableTrainer& trainer, ProcessGroup& world);

  // Collective. Restores the trainer from the newest checkpoint. Returns the
  // number of steps done; 0 if there is no checkpoint. FailedPrecondition: the
  // checkpoint has another model, precision or vocabulary; the message names
  // the differences.
  absl::StatusOr<int64_t> Resume();
  // A message about the checkpoint from which the training resumed: its folder,
  // and the damaged checkpoints that were skipped.
  const std::string& resumed_from() const { return resumed_from_; }
  // The options that differ from those of the saved training, as a message;
  // empty: none.
  const std::string& other_options() const { return other_options_; }

  // Folders of unfinished checkpoints that could not be removed. The processes
  // that wrote these checkpoints have died.
  const std::vector<std::string>& left_over() const {
    return writer_->left_over();
  }

  // Collective. Saves the state after `step` steps. The files are written in
  // the background.
  absl::Status Save(int64_t step);
  // Blocks until the checkpoint of the last Save is written.
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

// The content of a checkpoint, for commands that do not train: validation, text
// generation, export.
struct TrainedGpt {
  int64_t step = 0;
  // A message with the checkpoint's folder and the damaged checkpoints that
  // were skipped.
  std::string from;
  std::unique_ptr<GptWeights> weights;
  std::unique_ptr<Vocabulary> vocabulary;
};

// Opens the newest intact checkpoint. NotFound, DataLoss, InvalidArgument: the
// directory has no intact checkpoint; the message says why.
absl::StatusOr<TrainedGpt> OpenTrainedGpt(const std::string& directory);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_GPT_CHECKPOINT_H_
