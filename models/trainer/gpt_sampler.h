#ifndef MUSTER_MODELS_TRAINER_GPT_SAMPLER_H_
#define MUSTER_MODELS_TRAINER_GPT_SAMPLER_H_

#include <cstdint>
#include <vector>

#include "models/gpt/gpt_weights.h"

namespace muster {

// How text is written.
struct GptSampling {
  // Tokens to write.
  int64_t count = 500;
  // Below 1 likely tokens become likelier; above 0.
  double temperature = 1;
  // Only the likeliest are drawn from; 0: all.
  int64_t most_likely = 0;
  uint64_t seed = 1337;
};

// `tokens`, at least one, and those that the whole model's `weights` put behind
// them: drawn one after the other, each given those before it as far as the
// context reaches.
std::vector<int32_t> Sample(GptWeights& weights, const GptSampling& sampling,
                            std::vector<int32_t> tokens);

}  // namespace muster

#endif  // MUSTER_MODELS_TRAINER_GPT_SAMPLER_H_
