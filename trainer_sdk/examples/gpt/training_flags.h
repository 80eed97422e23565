#ifndef MUSTER_TRAINER_SDK_EXAMPLES_GPT_TRAINING_FLAGS_H_
#define MUSTER_TRAINER_SDK_EXAMPLES_GPT_TRAINING_FLAGS_H_

#include "trainer_sdk/examples/gpt/training_options.h"

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

#endif  // MUSTER_TRAINER_SDK_EXAMPLES_GPT_TRAINING_FLAGS_H_
