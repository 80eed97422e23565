#ifndef MUSTER_TRAINER_SDK_OPTIM_LOSS_SCALER_H_
#define MUSTER_TRAINER_SDK_OPTIM_LOSS_SCALER_H_

#include <cstdint>

#include "trainer_sdk/optim/gradient_norm.h"

namespace muster {

// torch.amp.GradScaler's.
struct LossScalerOptions {
  double initial = 65536;
  double growth = 2;
  double backoff = 0.5;
  // Steps without overflow until the scale grows.
  int64_t growth_interval = 2000;
};

// The dynamic loss scale of float16 training: the loss is multiplied by it, so
// that small gradients do not vanish, and gradients are divided by it before
// the optimizer's step. A step whose gradients overflowed is left out, and the
// scale shrinks; ranks must agree on that, so a rank's finding is combined by
// an all_reduce of MAX first. Pure; state is two numbers, for checkpoints.
class LossScaler {
 public:
  struct State {
    double scale = 0;
    int64_t good_steps = 0;
  };

  explicit LossScaler(const LossScalerOptions& options = {});

  double scale() const { return state_.scale; }

  // After each backward pass, with what all ranks found together. Whether the
  // optimizer may step.
  enum class Verdict { kStep, kSkip };
  Verdict Update(Finite gradients);

  const State& state() const { return state_; }
  void Restore(const State& state) { state_ = state; }

 private:
  const LossScalerOptions options_;
  State state_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_LOSS_SCALER_H_
