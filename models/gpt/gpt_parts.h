#ifndef MUSTER_MODELS_GPT_GPT_PARTS_H_
#define MUSTER_MODELS_GPT_GPT_PARTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "models/gpt/gpt_config.h"

namespace muster {

// The parts of a transformer, as a person thinks of them: 0 the embeddings, a
// block each, the head.
std::vector<std::string> GptPartNames(const GptConfig& config);

// The part in whose backward pass each tensor's gradient is done. The token
// table is in the embeddings, where the sum of its two uses is complete.
std::vector<int64_t> GptPartsOf(const std::vector<GptTensor>& tensors,
                                const GptConfig& config);

}  // namespace muster

#endif  // MUSTER_MODELS_GPT_GPT_PARTS_H_
