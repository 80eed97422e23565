#ifndef MUSTER_MODELS_TRAINER_TRAINING_FLAGS_H_
#define MUSTER_MODELS_TRAINER_TRAINING_FLAGS_H_

#include "models/trainer/training_options.h"

namespace CLI {
class App;
}  // namespace CLI

namespace muster {

// --data, --vocab, --merges. `files` is filled when flags are read.
void AddTextFlags(CLI::App& app, GptTextFiles* files);

// What every training of a GPT takes, however ranks share it: text, model,
// optimizer, checkpoints, log.
void AddCommonFlags(CLI::App& app, GptTrainingOptions* options);

// All flags of `gpt train`.
void AddTrainingFlags(CLI::App& app, GptTrainingOptions* options);

}  // namespace muster

#endif  // MUSTER_MODELS_TRAINER_TRAINING_FLAGS_H_
