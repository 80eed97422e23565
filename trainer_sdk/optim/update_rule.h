#ifndef MUSTER_TRAINER_SDK_OPTIM_UPDATE_RULE_H_
#define MUSTER_TRAINER_SDK_OPTIM_UPDATE_RULE_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace muster {

// Options of AdamW. The defaults are PyTorch's.
struct AdamWOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  // Decoupled weight decay: each step reduces the weight by learning rate *
  // weight_decay * weight and does not change the gradient (Loshchilov and
  // Hutter, 2019).
  double weight_decay = 0.01;
};

// One step of AdamW over `count` weights, as in torch.optim.AdamW; `step`
// counts from 1. `mean` and `square` are the moving averages of the gradient
// and of its square, zero before the first step. The update is elementwise, so
// any rank may update any range of the weights. Buffers must not overlap.
// Thread-safe, because it has no state of its own.
void AdamWStep(const AdamWOptions& options, double learning_rate, int64_t step,
               int64_t count, float* weights, const float* gradient,
               float* mean, float* square);

struct SgdOptions {
  // Momentum factor. If it is 0, there is no optimizer state.
  double momentum = 0;
  // L2 penalty: weight_decay * weight is added to the gradient.
  double weight_decay = 0;
  enum class Lookahead { kNone, kNesterov } lookahead = Lookahead::kNone;
};

// One step of stochastic gradient descent over `count` weights, as in
// torch.optim.SGD with dampening 0; `step` counts from 1. `velocity` is the
// momentum's state, null without momentum. The update is elementwise. Buffers
// must not overlap. Thread-safe, because it has no state of its own.
void SgdStep(const SgdOptions& options, double learning_rate, int64_t step,
             int64_t count, float* weights, const float* gradient,
             float* velocity);

// The arguments of one step of an optimizer.
struct OptimizerStep {
  // Number of this update, from 1; skipped steps are not counted. Required.
  int64_t step = 0;
  // Learning rate. Required. With 0 only the optimizer's state changes, not the
  // weights.
  double learning_rate = std::numeric_limits<double>::quiet_NaN();
  // The factor by which the gradients are multiplied before the update: the
  // clipping factor divided by the loss scale.
  double gradient_factor = 1;
};

// Whether weight decay applies to a parameter.
enum class WeightDecay { kApplied, kNone };

// The formula by which gradients change weights. The formula is elementwise, so
// any rank may update any range of the weights. Immutable, so thread-safe.
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;

  // Names of the optimizer's state arrays, as used in checkpoints, such as
  // "adamw.exp_avg". Each array has one element per weight and is zero at
  // first.
  virtual std::vector<std::string> states() const = 0;

  // Updates `count` weights. states[i] is the state array with the i-th name of
  // states(). `gradient` is already multiplied by step.gradient_factor. Buffers
  // must not overlap.
  virtual void Update(const OptimizerStep& step, WeightDecay decay,
                      int64_t count, float* weights, const float* gradient,
                      float* const* states) const = 0;

  // The rule's options if the rule was made by AdamWRule (adamw) or SgdRule
  // (sgd); otherwise null. A device other than the host recognises these two
  // rules by their options. Such a device rejects every other rule, unless the
  // device's implementation knows that rule.
  virtual const AdamWOptions* adamw() const { return nullptr; }
  virtual const SgdOptions* sgd() const { return nullptr; }
};

// AdamWRule makes the rule that performs AdamWStep, SgdRule the rule that
// performs SgdStep.
std::shared_ptr<const UpdateRule> AdamWRule(const AdamWOptions& options);
std::shared_ptr<const UpdateRule> SgdRule(const SgdOptions& options);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_UPDATE_RULE_H_
