#ifndef MUSTER_MODELS_TRAINER_GPT_BEGINNING_H_
#define MUSTER_MODELS_TRAINER_GPT_BEGINNING_H_

#include <memory>

#include "absl/status/status.h"
#include "models/gpt/gpt_weights.h"
#include "models/text/tokens.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// Whether options, text and ranks go together, before anything is made of that
// size. Collective. InvalidArgument: the text is too short, or the ranks do not
// divide the micro-batches, or a GPU is asked for what only CPUs do here.
// FailedPrecondition: ranks have other options than rank 0, or another text.
absl::Status CheckTraining(const GptTrainingOptions& options,
                           const std::shared_ptr<const Tokens>& tokens,
                           ProcessGroup& world);

// What weights begin with: drawn, or from the options' file; rank 0's on every
// rank. Collective. Errors are the file's, and BroadcastParameters'.
absl::Status FirstWeights(const GptTrainingOptions& options,
                          ProcessGroup& world, GptWeights* weights);

}  // namespace muster

#endif  // MUSTER_MODELS_TRAINER_GPT_BEGINNING_H_
