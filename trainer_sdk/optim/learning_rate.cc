#include "trainer_sdk/optim/learning_rate.h"

#include <cmath>
#include <numbers>

namespace muster {

double LearningRateSchedule::At(int64_t step) const {
  if (step < warmup) {
    return peak * static_cast<double>(step + 1) /
           static_cast<double>(warmup + 1);
  }
  if (decay == Decay::kNone) return peak;
  if (step >= decay_until) return floor;
  const double progress = static_cast<double>(step - warmup) /
                          static_cast<double>(decay_until - warmup);
  const double left = decay == Decay::kLinear
                          ? 1 - progress
                          : 0.5 * (1 + std::cos(std::numbers::pi * progress));
  return floor + left * (peak - floor);
}

}  // namespace muster
