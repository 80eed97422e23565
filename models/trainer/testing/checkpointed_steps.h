#ifndef MUSTER_MODELS_TRAINER_TESTING_CHECKPOINTED_STEPS_H_
#define MUSTER_MODELS_TRAINER_TESTING_CHECKPOINTED_STEPS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "models/text/char_vocabulary.h"
#include "models/trainer/resumable_trainer.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// As many characters as the small model has tokens.
const CharVocabulary& Vocabulary11();

// What rank 0 saw of a training that went on from a checkpoint.
struct CheckpointedCourse {
  std::vector<double> losses;
  // GptCheckpoints::other_options.
  std::string other_options;
};

// One rank's part: goes on from the newest checkpoint of the options' folder to
// step `last`, and saves there. `course`, all ranks' own, gets what rank 0 saw
// besides what it has. Collective.
absl::Status GoOnTo(int64_t last, const GptTrainingOptions& options,
                    ResumableTrainer& trainer, ProcessGroup& group,
                    CheckpointedCourse* course);

}  // namespace muster

#endif  // MUSTER_MODELS_TRAINER_TESTING_CHECKPOINTED_STEPS_H_
