#ifndef MUSTER_MODELS_TRAINER_GPT_STEP_H_
#define MUSTER_MODELS_TRAINER_GPT_STEP_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster::models {

// The results of a step.
struct GptStep {
  // Mean over the micro-batches of all ranks.
  double loss = 0;
  double learning_rate = 0;
  // Before clipping; not finite in a step that was skipped because the loss
  // scale was too high.
  double gradient_norm = 0;
};

// The mean of the losses by micro-batch. Each rank sets those that it computed;
// the others are 0. Collective.
absl::StatusOr<double> MeanLoss(ProcessGroup& world,
                                std::vector<double> losses);

// The error of a step whose gradient is not finite: OutOfRange.
absl::Status GradientIsNoNumber(int64_t step);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_GPT_STEP_H_
