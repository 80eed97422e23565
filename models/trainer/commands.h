#ifndef MUSTER_MODELS_TRAINER_COMMANDS_H_
#define MUSTER_MODELS_TRAINER_COMMANDS_H_

#include "absl/status/status.h"
#include "models/trainer/gpt_command.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/session/session.h"

namespace muster::models {

// Performs `gpt train`: trains to the last step, or until a stop is requested
// on any rank.
absl::Status TrainGpt(GptTrainingOptions options, Session& session);

// Perform the commands that use a checkpoint. The commands run in one process
// and print their results to stdout.
absl::Status ValidateGpt(const GptValidation& validation);
absl::Status SampleGpt(const GptSampleCommand& command);
absl::Status ExportGpt(const GptExport& exported);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_COMMANDS_H_
