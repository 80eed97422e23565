#ifndef MUSTER_MODELS_TRAINER_GPT_STEP_H_
#define MUSTER_MODELS_TRAINER_GPT_STEP_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// What is known of a step when it is done.
struct GptStep {
  // Mean over the micro-batches of all ranks.
  double loss = 0;
  double learning_rate = 0;
  // Before it was clipped; no finite number in a step that was left out because
  // the loss scale was too high.
  double gradient_norm = 0;
};

// The mean of losses by micro-batch, of which each rank knows its own; others
// are 0. Collective.
absl::StatusOr<double> MeanLoss(ProcessGroup& world,
                                std::vector<double> losses);

// What a step ends with whose gradient is no number: OutOfRange.
absl::Status GradientIsNoNumber(int64_t step);

}  // namespace muster

#endif  // MUSTER_MODELS_TRAINER_GPT_STEP_H_
