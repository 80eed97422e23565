#ifndef MUSTER_TRAINER_SDK_OPTIM_SGD_H_
#define MUSTER_TRAINER_SDK_OPTIM_SGD_H_

#include <cstdint>

namespace muster {

struct SgdOptions {
  // 0: none, and no state is used.
  double momentum = 0;
  // Added to the gradient, times the weight.
  double weight_decay = 0;
  enum class Lookahead { kNone, kNesterov } lookahead = Lookahead::kNone;
};

// One step of stochastic gradient descent over `count` weights, as
// torch.optim.SGD does it with dampening 0; `step` counts from 1. `velocity` is
// the state of momentum; null without. Elementwise; nothing overlaps.
// Thread-safe: no state of its own.
void SgdStep(const SgdOptions& options, double learning_rate, int64_t step,
             int64_t count, float* weights, const float* gradient,
             float* velocity);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_SGD_H_
