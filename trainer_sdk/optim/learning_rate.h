#ifndef MUSTER_TRAINER_SDK_OPTIM_LEARNING_RATE_H_
#define MUSTER_TRAINER_SDK_OPTIM_LEARNING_RATE_H_

#include <cstdint>

namespace muster {

// A learning rate as a function of the step: linear warmup, then a linear or
// cosine decay, then constant. Without decay it is constant after the warmup.
// Pure.
struct LearningRateSchedule {
  enum class Decay { kNone, kLinear, kCosine };

  // The highest rate, reached at the end of the warmup.
  double peak = 1e-3;
  // The final learning rate, after the decay.
  double floor = 0;
  // Number of warmup steps. In the warmup, the rate of step s is peak * (s + 1)
  // / (warmup + 1), as in nanoGPT. So the rate is not zero in the first step.
  int64_t warmup = 0;
  // The first step after the decay; from this step on the rate is `floor`. Not
  // used without decay (Decay::kNone).
  int64_t decay_until = 0;
  Decay decay = Decay::kCosine;

  // Returns the learning rate for `step`, counted from 0.
  double At(int64_t step) const;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_LEARNING_RATE_H_
