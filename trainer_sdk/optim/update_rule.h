#ifndef MUSTER_TRAINER_SDK_OPTIM_UPDATE_RULE_H_
#define MUSTER_TRAINER_SDK_OPTIM_UPDATE_RULE_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace muster {

// The defaults are PyTorch's.
struct AdamWOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  // Decoupled weight decay: the weight is reduced by learning rate *
  // weight_decay * weight, and the gradient is unchanged (Loshchilov and
  // Hutter, 2019).
  double weight_decay = 0.01;
};

// One step of AdamW over `count` weights, as in torch.optim.AdamW; `step`
// counts from 1. `mean` and `square` are the optimizer's state, zero before the
// first step. Elementwise, so any range of the weights may be updated alone, on
// any rank. Buffers must not overlap. Thread-safe: no state of its own.
void AdamWStep(const AdamWOptions& options, double learning_rate, int64_t step,
               int64_t count, float* weights, const float* gradient,
               float* mean, float* square);

struct SgdOptions {
  // 0: no momentum and no state.
  double momentum = 0;
  // L2 penalty: weight_decay * weight is added to the gradient.
  double weight_decay = 0;
  enum class Lookahead { kNone, kNesterov } lookahead = Lookahead::kNone;
};

// One step of stochastic gradient descent over `count` weights, as in
// torch.optim.SGD with dampening 0; `step` counts from 1. `velocity` is the
// momentum's state, null without momentum. Elementwise; buffers must not
// overlap. Thread-safe: no state of its own.
void SgdStep(const SgdOptions& options, double learning_rate, int64_t step,
             int64_t count, float* weights, const float* gradient,
             float* velocity);

// The arguments of one optimizer step.
struct OptimizerStep {
  // Number of the update, from 1; skipped steps are not counted. Required.
  int64_t step = 0;
  // Required. 0 changes only the optimizer's state.
  double learning_rate = std::numeric_limits<double>::quiet_NaN();
  // Factor applied to gradients first: clipping, and the inverse of the loss
  // scale.
  double gradient_factor = 1;
};

// Whether weight decay applies to a parameter.
enum class WeightDecay { kApplied, kNone };

// The formula by which gradients change weights. It is elementwise, so any
// range of the weights may be updated alone, on any rank. Immutable, so
// thread-safe.
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;

  // The names of the state that is kept for each weight, as used in
  // checkpoints: "adamw.exp_avg". State is zero at first.
  virtual std::vector<std::string> states() const = 0;

  // Updates `count` weights; states[i] is the state with the i-th name.
  // `gradient` is already multiplied by step.gradient_factor. Buffers must not
  // overlap.
  virtual void Update(const OptimizerStep& step, WeightDecay decay,
                      int64_t count, float* weights, const float* gradient,
                      float* const* states) const = 0;

  // The options of the rule if it is AdamWRule's or SgdRule's, else null. A
  // device other than the host has these formulas only, unless it knows a
  // caller's own rule.
  virtual const AdamWOptions* adamw() const { return nullptr; }
  virtual const SgdOptions* sgd() const { return nullptr; }
};

// AdamWStep and SgdStep as rules.
std::shared_ptr<const UpdateRule> AdamWRule(const AdamWOptions& options);
std::shared_ptr<const UpdateRule> SgdRule(const SgdOptions& options);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_UPDATE_RULE_H_
