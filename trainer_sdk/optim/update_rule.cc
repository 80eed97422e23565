#include "trainer_sdk/optim/update_rule.h"

namespace muster {
namespace {

class AdamW : public UpdateRule {
 public:
  explicit AdamW(const AdamWOptions& options) : options_(options) {}

  // PyTorch's names for the state.
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
