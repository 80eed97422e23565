#ifndef MUSTER_MODELS_TRAINER_GPT_SAMPLER_H_
#define MUSTER_MODELS_TRAINER_GPT_SAMPLER_H_

#include <cstdint>
#include <vector>

#include "models/gpt/gpt_weights.h"

namespace muster::models {

// Options of text generation.
struct GptSampling {
  // Number of tokens to generate.
  int64_t count = 500;
  // Sampling temperature, greater than 0. Values below 1 make likely tokens
  // more likely.
  double temperature = 1;
  // Each token is drawn from this number of most likely tokens; 0: from all
  // tokens.
  int64_t most_likely = 0;
  uint64_t seed = 1337;
};

// Returns `tokens`, at least one, followed by sampling.count generated tokens.
// Each generated token is drawn from the distribution that the model computes
// from the preceding tokens, or from as many of them as fit into the context.
// `weights` must be those of a whole model.
std::vector<int32_t> Sample(GptWeights& weights, const GptSampling& sampling,
                            std::vector<int32_t> tokens);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_GPT_SAMPLER_H_
