#ifndef MUSTER_TRAINER_SDK_OPTIM_ADAMW_H_
#define MUSTER_TRAINER_SDK_OPTIM_ADAMW_H_

#include <cstdint>

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

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_ADAMW_H_
