#include "trainer_sdk/optim/adamw.h"

#include <cmath>

namespace muster {

void AdamWStep(const AdamWOptions& options, double learning_rate, int64_t step,
               int64_t count, float* __restrict weights,
               const float* __restrict gradient, float* __restrict mean,
               float* __restrict square) {
  // Bias correction: the moments start at zero, so without it the first steps
  // would be too small.
  const double mean_bias = 1 - std::pow(options.beta1, step);
  const double square_bias = 1 - std::pow(options.beta2, step);
  const auto keep =
      static_cast<float>(1 - learning_rate * options.weight_decay);
  const auto beta2 = static_cast<float>(options.beta2);
  const auto new_mean = static_cast<float>(1 - options.beta1);
  const auto new_square = static_cast<float>(1 - options.beta2);
  const auto epsilon = static_cast<float>(options.epsilon);
  const auto root_bias = static_cast<float>(std::sqrt(square_bias));
  const auto size = static_cast<float>(learning_rate / mean_bias);
  for (int64_t i = 0; i < count; ++i) {
    const float g = gradient[i];
    const float m = mean[i] + (g - mean[i]) * new_mean;
    const float v = square[i] * beta2 + new_square * g * g;
    mean[i] = m;
    square[i] = v;
    weights[i] =
        weights[i] * keep - size * (m / (std::sqrt(v) / root_bias + epsilon));
  }
}

}  // namespace muster
