#include "trainer_sdk/optim/step_plan.h"

#include <cmath>
#include <limits>

#include "trainer_sdk/optim/gradient_norm.h"

namespace muster {

LossScaler::LossScaler(const LossScalerOptions& options)
    : options_(options), state_{.scale = options.initial, .good_steps = 0} {}

LossScaler::Verdict LossScaler::Update(Finite gradients) {
  if (gradients == Finite::kNotAll) {
    state_ = {.scale = state_.scale * options_.backoff, .good_steps = 0};
    return Verdict::kSkip;
  }
  if (++state_.good_steps == options_.growth_interval) {
    state_ = {.scale = state_.scale * options_.growth, .good_steps = 0};
  }
  return Verdict::kStep;
}

StepPlan PlanStep(double sum_of_squares, double most, LossScaler* scaler) {
  const Finite finite =
      std::isfinite(sum_of_squares) ? Finite::kAll : Finite::kNotAll;
  // Read the scale before Update changes it: the gradients were computed with
  // the old scale.
  const double inverse = scaler == nullptr ? 1 : 1 / scaler->scale();
  StepPlan plan;
  plan.verdict = finite == Finite::kAll ? LossScaler::Verdict::kStep
                                        : LossScaler::Verdict::kSkip;
  if (scaler != nullptr) plan.verdict = scaler->Update(finite);
  if (plan.verdict == LossScaler::Verdict::kSkip) {
    plan.gradient_factor = 0;
    plan.norm = std::numeric_limits<double>::quiet_NaN();
    return plan;
  }
  const double squares = sum_of_squares * inverse * inverse;
  plan.norm = std::sqrt(squares);
  plan.gradient_factor = inverse;
  if (most > 0) plan.gradient_factor *= ClipCoefficient(squares, most);
  return plan;
}

}  // namespace muster
