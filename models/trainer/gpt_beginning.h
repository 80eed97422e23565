#ifndef MUSTER_MODELS_TRAINER_GPT_BEGINNING_H_
#define MUSTER_MODELS_TRAINER_GPT_BEGINNING_H_

#include <memory>

#include "absl/status/status.h"
#include "models/gpt/gpt_weights.h"
#include "models/text/vocabulary.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster::models {

// Checks, before large memory is allocated, that the options, the text and the
// number of ranks are compatible. Collective. InvalidArgument: an option is
// invalid, not supported on GPUs, or excludes another one; the micro-batches
// are not a multiple of the number of ranks; or the text is too short.
// FailedPrecondition: ranks have other options or another text than rank 0.
absl::Status CheckTraining(const GptTrainingOptions& options,
                           const std::shared_ptr<const Tokens>& tokens,
                           ProcessGroup& world);

// Initialises the weights, from random numbers or from the file in the options;
// all ranks get the weights of rank 0. Collective. Errors are those of the file
// and of BroadcastParameters.
absl::Status FirstWeights(const GptTrainingOptions& options,
                          ProcessGroup& world, GptWeights* weights);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_GPT_BEGINNING_H_
