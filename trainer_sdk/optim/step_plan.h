#ifndef MUSTER_TRAINER_SDK_OPTIM_STEP_PLAN_H_
#define MUSTER_TRAINER_SDK_OPTIM_STEP_PLAN_H_

#include "trainer_sdk/optim/loss_scaler.h"

namespace muster {

// The decision about one optimizer step, made from the size of the gradients.
struct StepPlan {
  LossScaler::Verdict verdict = LossScaler::Verdict::kStep;
  // For OptimizerStep::gradient_factor: removes the loss scale and clips.
  double gradient_factor = 1;
  // Norm of the gradient without the loss scale, before clipping; NaN if the
  // step is skipped.
  double norm = 0;
};

// Decides about gradients with this sum of squares (Optimizer::SumOfSquares,
// summed over all pipeline stages). The loss was multiplied by the scale of
// `scaler`, if that is not null. `most`: the largest allowed norm; 0:
// unlimited. Reports to `scaler` whether the gradients were finite. Without a
// scaler, a step with gradients that are not finite is skipped too, and the
// caller has to decide whether to stop.
StepPlan PlanStep(double sum_of_squares, double most, LossScaler* scaler);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_STEP_PLAN_H_
