#include "trainer_sdk/optim/sgd.h"

namespace muster {

void SgdStep(const SgdOptions& options, double learning_rate, int64_t step,
             int64_t count, float* __restrict weights,
             const float* __restrict gradient, float* __restrict velocity) {
  const auto rate = static_cast<float>(learning_rate);
  const auto decay = static_cast<float>(options.weight_decay);
  const auto momentum = static_cast<float>(options.momentum);
  const bool nesterov = options.lookahead == SgdOptions::Lookahead::kNesterov;
  for (int64_t i = 0; i < count; ++i) {
    float g = gradient[i] + decay * weights[i];
    if (momentum != 0) {
      // The velocity of the first step is the gradient.
      const float v = step == 1 ? g : momentum * velocity[i] + g;
      velocity[i] = v;
      g = nesterov ? g + momentum * v : v;
    }
    weights[i] -= rate * g;
  }
}

}  // namespace muster
