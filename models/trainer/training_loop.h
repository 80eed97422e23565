#ifndef MUSTER_MODELS_TRAINER_TRAINING_LOOP_H_
#define MUSTER_MODELS_TRAINER_TRAINING_LOOP_H_

#include <functional>

#include "absl/status/status.h"
#include "models/text/vocabulary.h"
#include "models/trainer/gpt_trainer.h"
#include "models/trainer/report/gpt_reporter.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/session/session.h"

namespace muster::models {

// Runs `train` in this process's session and returns its status, with the rank
// in the message of an error. Also returns the errors of
// Session::FromEnvironment.
absl::Status InSession(const std::function<absl::Status(Session&)>& train);

// Runs `command` and returns its status. ResourceExhausted: not enough memory;
// the message says which options need less.
absl::Status WithinMemory(const std::function<absl::Status()>& command);

// The arguments of RunTraining.
struct TrainingRun {
  const GptTrainingOptions& options;
  const Vocabulary& vocabulary;
  ResumableTrainer& trainer;
  ProcessGroup& world;
  GptReporter& reporter;
};

// Collective. Trains to the last step in the options, or until a stop is
// requested on any rank. Begins with the newest checkpoint, if there is one.
// Makes reports, validations and checkpoints. All checkpoints are written on
// return. If a checkpoint cannot be written (full disk), the training continues
// with a warning. But if this is the last checkpoint of the training, an error
// is returned.
absl::Status RunTraining(const TrainingRun& run);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_TRAINING_LOOP_H_
