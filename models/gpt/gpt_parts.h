#ifndef MUSTER_MODELS_GPT_GPT_PARTS_H_
#define MUSTER_MODELS_GPT_GPT_PARTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "models/gpt/gpt_config.h"

namespace muster::models {

// Names of the parts of a transformer: part 0 is the embeddings, then one part
// per block, then the head.
std::vector<std::string> GptPartNames(const GptConfig& config);

// By tensor: the part in whose backward pass its gradient is complete. The
// token table belongs to the embeddings, where the sum over its two uses is
// complete.
std::vector<int64_t> GptPartsOf(const std::vector<GptTensor>& tensors,
                                const GptConfig& config);

}  // namespace muster::models

#endif  // MUSTER_MODELS_GPT_GPT_PARTS_H_
