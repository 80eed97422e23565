#ifndef MUSTER_TRAINER_SDK_OPTIM_UPDATE_RULE_H_
#define MUSTER_TRAINER_SDK_OPTIM_UPDATE_RULE_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "trainer_sdk/optim/adamw.h"
#include "trainer_sdk/optim/sgd.h"

namespace muster {

// What one step of an optimizer is told.
struct OptimizerStep {
  // Counts the updates from 1; steps that were left out are not counted. Must
  // be given.
  int64_t step = 0;
  // Must be given; 0 changes nothing but the optimizer's state.
  double learning_rate = std::numeric_limits<double>::quiet_NaN();
  // Gradients are multiplied by it first: clipping, and the inverse of the
  // loss scale.
  double gradient_factor = 1;
};

// Whether a parameter is pulled towards zero.
enum class WeightDecay { kApplied, kNone };

// How gradients change weights, element by element, so that any part of the
// weights may be updated alone, on any rank. Immutable, hence thread-safe.
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;

  // What it keeps for each weight, by name, for checkpoints:
  // "adamw.exp_avg". Zero at first.
  virtual std::vector<std::string> states() const = 0;

  // Changes `count` weights; states[i] is that of the i-th name. `gradient` has
  // been multiplied by step.gradient_factor. Nothing overlaps.
  virtual void Update(const OptimizerStep& step, WeightDecay decay,
                      int64_t count, float* weights, const float* gradient,
                      float* const* states) const = 0;
};

// AdamWStep and SgdStep as rules.
std::shared_ptr<const UpdateRule> AdamWRule(const AdamWOptions& options);
std::shared_ptr<const UpdateRule> SgdRule(const SgdOptions& options);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_UPDATE_RULE_H_
