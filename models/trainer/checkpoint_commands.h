#ifndef MUSTER_MODELS_TRAINER_CHECKPOINT_COMMANDS_H_
#define MUSTER_MODELS_TRAINER_CHECKPOINT_COMMANDS_H_

#include "absl/status/status.h"
#include "models/trainer/gpt_command.h"

namespace muster::models {

// Commands that use a checkpoint in one process. Results are printed to stdout.
absl::Status ValidateGpt(const GptValidation& validation);
absl::Status WriteWithGpt(const GptWriting& writing);
absl::Status ExportGpt(const GptExport& exported);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_CHECKPOINT_COMMANDS_H_
