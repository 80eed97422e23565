#ifndef MUSTER_MODELS_TRAINER_TRAIN_COMMAND_H_
#define MUSTER_MODELS_TRAINER_TRAIN_COMMAND_H_

#include "absl/status/status.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/session/session.h"

namespace muster::models {

// `gpt train`: trains to the last step, or until any rank is asked to stop.
absl::Status TrainGpt(GptTrainingOptions options, Session& session);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_TRAIN_COMMAND_H_
