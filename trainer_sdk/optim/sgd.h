#ifndef MUSTER_TRAINER_SDK_OPTIM_SGD_H_
#define MUSTER_TRAINER_SDK_OPTIM_SGD_H_

#include <cstdint>

namespace muster {

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

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_SGD_H_
