#include "trainer_sdk/optim/update_rule.h"

#include <cmath>

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
      // In the first step there is no earlier velocity, so the velocity is the
      // gradient itself.
      const float v = step == 1 ? g : momentum * velocity[i] + g;
      velocity[i] = v;
      g = nesterov ? g + momentum * v : v;
    }
    weights[i] -= rate * g;
  }
}

void AdamWStep(const AdamWOptions& options, double learning_rate, int64_t step,
               int64_t count, float* __restrict weights,
               const float* __restrict gradient, float* __restrict mean,
               float* __restrict square) {
  // Bias correction: the moments start at zero, so without a correction the
  // first steps would be too small.
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

namespace {

class AdamW : public UpdateRule {
 public:
  explicit AdamW(const AdamWOptions& options) : options_(options) {}

  // The states have the names that PyTorch uses.
  std::vector<std::string> states() const override {
    return {"adamw.exp_avg", "adamw.exp_avg_sq"};
  }

  void Update(const OptimizerStep& step, WeightDecay decay, int64_t count,
              float* weights, const float* gradient,
              float* const* states) const override {
    AdamWOptions options = options_;
    if (decay == WeightDecay::kNone) options.weight_decay = 0;
    AdamWStep(options, step.learning_rate, step.step, count, weights, gradient,
              states[0], states[1]);
  }

  const AdamWOptions* adamw() const override { return &options_; }

 private:
  const AdamWOptions options_;
};

class Sgd : public UpdateRule {
 public:
  explicit Sgd(const SgdOptions& options) : options_(options) {}

  std::vector<std::string> states() const override {
    if (options_.momentum == 0) return {};
    return {"sgd.momentum_buffer"};
  }

  void Update(const OptimizerStep& step, WeightDecay decay, int64_t count,
              float* weights, const float* gradient,
              float* const* states) const override {
    SgdOptions options = options_;
    if (decay == WeightDecay::kNone) options.weight_decay = 0;
    SgdStep(options, step.learning_rate, step.step, count, weights, gradient,
            options.momentum == 0 ? nullptr : states[0]);
  }

  const SgdOptions* sgd() const override { return &options_; }

 private:
  const SgdOptions options_;
};

}  // namespace

std::shared_ptr<const UpdateRule> AdamWRule(const AdamWOptions& options) {
  return std::make_shared<AdamW>(options);
}

std::shared_ptr<const UpdateRule> SgdRule(const SgdOptions& options) {
  return std::make_shared<Sgd>(options);
}

}  // namespace muster
