#ifndef MUSTER_MODELS_TRAINER_TRAINING_FLAGS_H_
#define MUSTER_MODELS_TRAINER_TRAINING_FLAGS_H_

#include "models/trainer/training_options.h"

namespace CLI {
class App;
}  // namespace CLI

namespace muster::models {

// --data, --vocab, --merges. `files` is set when the flags are parsed.
void AddTextFlags(CLI::App& app, GptTextFiles* files);

// The flags of every training of a GPT, whatever its distribution: text, model,
// optimizer, checkpoints, log.
void AddCommonFlags(CLI::App& app, GptTrainingOptions* options);

// All flags of `gpt train`.
void AddTrainingFlags(CLI::App& app, GptTrainingOptions* options);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_TRAINING_FLAGS_H_
