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

// Runs `train` in this process's session and returns its status. Errors name
// the rank. Other errors are those of Session::FromEnvironment.
absl::Status InSession(const std::function<absl::Status(Session&)>& train);

// Runs `command` and returns its status. ResourceExhausted: there was not
// enough memory; says what needs less.
absl::Status WithinMemory(const std::function<absl::Status()>& command);

// The parts of a training.
struct TrainingRun {
  const GptTrainingOptions& options;
  const Vocabulary& vocabulary;
  ResumableTrainer& trainer;
  ProcessGroup& world;
  GptReporter& reporter;
};

// Collective: trains from the newest checkpoint, or from the start without one,
// to the options' last step, or until any rank is asked to stop; with reports,
// validations and checkpoints. All checkpoints are written when it returns. A
// full disk is reported, but is no error.
absl::Status RunTraining(const TrainingRun& run);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_TRAINING_LOOP_H_
