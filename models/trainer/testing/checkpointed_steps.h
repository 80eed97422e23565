#ifndef MUSTER_MODELS_TRAINER_TESTING_CHECKPOINTED_STEPS_H_
#define MUSTER_MODELS_TRAINER_TESTING_CHECKPOINTED_STEPS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/testing/rounding.h"
#include "models/text/char_vocabulary.h"
#include "models/trainer/resumable_trainer.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster::models {

// A vocabulary with as many characters as the small model has tokens.
const CharVocabulary& Vocabulary11();

// Rank 0's results of a training that resumed from a checkpoint.
struct CheckpointedCourse {
  std::vector<double> losses;
  // GptCheckpoints::other_options.
  std::string other_options;
};

// One rank's part: resumes from the newest checkpoint in the options' folder,
// trains to step `last` and saves there. `course`, shared by all ranks, gets
// rank 0's results appended. Disturbs the state after each step unless
// `disturb` is null. Collective.
absl::Status GoOnTo(int64_t last, const GptTrainingOptions& options,
                    ResumableTrainer& trainer, ProcessGroup& group,
                    CheckpointedCourse* course, Disturbance* disturb = nullptr);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_TESTING_CHECKPOINTED_STEPS_H_
