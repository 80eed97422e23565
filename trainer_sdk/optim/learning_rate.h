#ifndef MUSTER_TRAINER_SDK_OPTIM_LEARNING_RATE_H_
#define MUSTER_TRAINER_SDK_OPTIM_LEARNING_RATE_H_

#include <cstdint>

namespace muster {

// A learning rate over the steps: up in a line, then down in a line or half a
// cosine, then constant. Pure.
struct LearningRateSchedule {
  enum class Decay { kNone, kLinear, kCosine };

  // The highest.
  double peak = 1e-3;
  // The last.
  double floor = 0;
  // Steps until the peak; nanoGPT's ramp, (step + 1) / (warmup + 1), so that
  // the first step does something.
  int64_t warmup = 0;
  // The step from which on the rate is `floor`.
  int64_t decay_until = 0;
  Decay decay = Decay::kCosine;

  // For `step`, counted from 0.
  double At(int64_t step) const;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_LEARNING_RATE_H_
