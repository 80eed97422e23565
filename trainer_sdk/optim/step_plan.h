#ifndef MUSTER_TRAINER_SDK_OPTIM_STEP_PLAN_H_
#define MUSTER_TRAINER_SDK_OPTIM_STEP_PLAN_H_

#include "trainer_sdk/optim/loss_scaler.h"

namespace muster {

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
