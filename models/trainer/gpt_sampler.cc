#include "models/trainer/gpt_sampler.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "models/gpt/gpt_stage.h"

namespace muster::models {
namespace {

// Computes the logits of the token that follows `tokens`.
std::vector<float> NextTokenLogits(GptWeights& weights,
                                   const std::vector<int32_t>& tokens) {
  const auto length = std::min<int64_t>(weights.config().context,
                                        static_cast<int64_t>(tokens.size()));
  GptMicroBatch batch;
  batch.tokens.assign(tokens.end() - length, tokens.end());
  batch.targets.assign(static_cast<size_t>(length), 0);
  const GptStage model(weights, 1, length);
  std::vector<float> stream;
  model.Forward(&batch, &stream);
  model.LossOnly(&batch, stream);
  return {batch.logits.end() - weights.config().vocabulary, batch.logits.end()};
}

// Returns the smallest of the `most_likely` largest logits, or of all logits if
// `most_likely` is 0. Tokens with a smaller logit are not drawn.
float Least(std::vector<float> logits, int64_t most_likely) {
  if (most_likely <= 0 || most_likely >= static_cast<int64_t>(logits.size())) {
    return *std::min_element(logits.begin(), logits.end());
  }
  const auto last = logits.begin() + most_likely - 1;
  std::nth_element(logits.begin(), last, logits.end(), std::greater<>());
  return *last;
}

}  // namespace

std::vector<int32_t> Sample(GptWeights& weights, const GptSampling& sampling,
                            std::vector<int32_t> tokens) {
  std::mt19937_64 engine(sampling.seed);
  for (int64_t n = 0; n < sampling.count; ++n) {
    const std::vector<float> logits = NextTokenLogits(weights, tokens);
    const float most = *std::max_element(logits.begin(), logits.end());
    const float least = Least(logits, sampling.most_likely);
    std::vector<double> chances;
    for (const float logit : logits) {
      const double below = static_cast<double>(logit) - most;
      chances.push_back(logit < least ? 0
                                      : std::exp(below / sampling.temperature));
    }
    std::discrete_distribution<int32_t> draw(chances.begin(), chances.end());
    tokens.push_back(draw(engine));
  }
  return tokens;
}

}  // namespace muster::models
