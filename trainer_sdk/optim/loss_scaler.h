#ifndef MUSTER_TRAINER_SDK_OPTIM_LOSS_SCALER_H_
#define MUSTER_TRAINER_SDK_OPTIM_LOSS_SCALER_H_

#include <cstdint>

#include "trainer_sdk/optim/gradient_norm.h"

namespace muster {

// Options of a LossScaler. The defaults are those of torch.amp.GradScaler.
struct LossScalerOptions {
  double initial = 65536;
  double growth = 2;
  double backoff = 0.5;
  // The scale grows after this number of successive steps without overflow.
  int64_t growth_interval = 2000;
};

// The dynamic loss scale of float16 training. The loss is multiplied by the
// scale, so that small gradients do not underflow. Before the optimizer's step
// the gradients are divided by the scale. If gradients overflow, the step is
// skipped and the scale shrinks. All ranks must take the same decision. So all
// ranks must pass the same argument to Update (see PlanStep). Pure. The state
// (State) is two numbers, which a checkpoint can hold.
class LossScaler {
 public:
  struct State {
    double scale = 0;
    int64_t good_steps = 0;
  };

  explicit LossScaler(const LossScalerOptions& options = {});

  double scale() const { return state_.scale; }

  // Whether the optimizer performs or skips its step.
  enum class Verdict { kStep, kSkip };
  // Updates the scale. Call Update after each backward pass. `gradients`:
  // whether the gradients of all ranks are finite.
  Verdict Update(Finite gradients);

  const State& state() const { return state_; }
  void Restore(const State& state) { state_ = state; }

 private:
  const LossScalerOptions options_;
  State state_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_LOSS_SCALER_H_
