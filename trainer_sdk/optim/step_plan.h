#ifndef MUSTER_TRAINER_SDK_OPTIM_STEP_PLAN_H_
#define MUSTER_TRAINER_SDK_OPTIM_STEP_PLAN_H_

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

// The decision about one optimizer step, based on the norm of the gradients.
struct StepPlan {
  LossScaler::Verdict verdict = LossScaler::Verdict::kStep;
  // The value for OptimizerStep::gradient_factor, which removes the loss scale
  // and clips the gradients.
  double gradient_factor = 1;
  // The norm of the gradients after the loss scale is removed and before
  // clipping; NaN if the step is skipped.
  double norm = 0;
};

// Plans a step. `sum_of_squares`: the sum of the squares of all gradients
// (Optimizer::SumOfSquares, summed over all pipeline stages). `most`: the
// largest allowed norm; 0: unlimited. `scaler`: the LossScaler whose scale
// multiplied the loss; null if the loss was not scaled. Reports to `scaler`
// whether the gradients were finite. A step with gradients that are not finite
// is skipped. If `scaler` is null, the caller must decide after a skipped step
// whether to stop.
StepPlan PlanStep(double sum_of_squares, double most, LossScaler* scaler);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_STEP_PLAN_H_
