#include "trainer_sdk/optim/loss_scaler.h"

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

}  // namespace muster
