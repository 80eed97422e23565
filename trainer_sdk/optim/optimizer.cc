#include "trainer_sdk/optim/optimizer.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace muster {

absl::Status CheckStep(const OptimizerStep& step) {
  if (step.step < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "OptimizerStep::step is ", step.step, "; updates count from 1"));
  }
  if (std::isnan(step.learning_rate)) {
    return absl::InvalidArgumentError(
        "OptimizerStep::learning_rate was not given");
  }
  return absl::OkStatus();
}

}  // namespace muster
