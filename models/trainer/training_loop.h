#ifndef MUSTER_MODELS_TRAINER_TRAINING_LOOP_H_
#define MUSTER_MODELS_TRAINER_TRAINING_LOOP_H_

#include "absl/status/status.h"
#include "models/text/vocabulary.h"
#include "models/trainer/report/gpt_reporter.h"
#include "models/trainer/resumable_trainer.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// What a training consists of.
struct TrainingRun {
  const GptTrainingOptions& options;
  const Vocabulary& vocabulary;
  ResumableTrainer& trainer;
  ProcessGroup& world;
  GptReporter& reporter;
};

// Collective: from the newest checkpoint, or the beginning where there is none,
// to the options' last step, or to that behind which any rank was asked to
// stop, with reports, validations and checkpoints on the way. Checkpoints are
// written when it returns. A disk that is full is said, and no error.
absl::Status RunTraining(const TrainingRun& run);

}  // namespace muster

#endif  // MUSTER_MODELS_TRAINER_TRAINING_LOOP_H_
