#ifndef MUSTER_MODELS_GPT_LAYER_SPLIT_H_
#define MUSTER_MODELS_GPT_LAYER_SPLIT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "models/gpt/gpt_config.h"

namespace muster::models {

// The layers of each stage of a pipeline, in order, distributed as evenly as
// possible. If some stages have one layer more, they are the first ones,
// because the last stage also has the head. Pure. InvalidArgument: fewer layers
// than stages.
absl::StatusOr<std::vector<GptLayers>> SplitLayers(const GptConfig& config,
                                                   int stages);

}  // namespace muster::models

#endif  // MUSTER_MODELS_GPT_LAYER_SPLIT_H_
