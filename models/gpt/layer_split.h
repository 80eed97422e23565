#ifndef MUSTER_MODELS_GPT_LAYER_SPLIT_H_
#define MUSTER_MODELS_GPT_LAYER_SPLIT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "models/gpt/gpt_config.h"

namespace muster {

// The layers of each stage of a pipeline, in order, as evenly as can be: where
// some have one more, they are the first ones, as the last stage has the head
// to do besides. Pure. InvalidArgument: fewer layers than stages.
absl::StatusOr<std::vector<GptLayers>> SplitLayers(const GptConfig& config,
                                                   int stages);

}  // namespace muster

#endif  // MUSTER_MODELS_GPT_LAYER_SPLIT_H_
