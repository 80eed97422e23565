#include "models/trainer/gpt_step.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster::models {

absl::StatusOr<double> MeanLoss(ProcessGroup& world,
                                std::vector<double> losses) {
  // Only zeros are added to a loss, so the mean does not depend on which rank
  // computed it.
  absl::Status status = world.Run(AllReduce(losses.data(), losses.data(),
                                            static_cast<int64_t>(losses.size()),
                                            DType::kFloat64));
  if (!status.ok()) return status;
  return std::accumulate(losses.begin(), losses.end(), 0.0) /
         static_cast<double>(losses.size());
}

absl::Status GradientIsNoNumber(int64_t step) {
  return absl::OutOfRangeError(
      absl::StrCat("step ", step, ": the gradient is no number, ",
                   "so weights would be none; a lower learning rate may help"));
}

}  // namespace muster::models
