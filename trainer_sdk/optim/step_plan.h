#ifndef MUSTER_TRAINER_SDK_OPTIM_STEP_PLAN_H_
#define MUSTER_TRAINER_SDK_OPTIM_STEP_PLAN_H_

#include "trainer_sdk/optim/loss_scaler.h"

namespace muster {

// What is to be done with gradients whose size is known.
struct StepPlan {
  LossScaler::Verdict verdict = LossScaler::Verdict::kStep;
  // OptimizerStep::gradient_factor: takes off the loss scale and clips.
  double gradient_factor = 1;
  // Of the gradient as it would be without a loss scale, before it is clipped;
  // not a number in a step that is skipped.
  double norm = 0;
};

// The plan for gradients with this sum of squares (Optimizer::SumOfSquares, of
// all stages together), of a loss that was multiplied with the scaler's scale,
// where there is one. `most` is what the norm may be; 0: anything. Without a
// scaler gradients that are no numbers are skipped as well, and it is for the
// caller to stop. Tells `scaler` what was found.
StepPlan PlanStep(double sum_of_squares, double most, LossScaler* scaler);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_STEP_PLAN_H_
