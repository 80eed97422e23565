#ifndef MUSTER_TRAINER_SDK_EXAMPLES_GPT_GPT_TRAINER_H_
#define MUSTER_TRAINER_SDK_EXAMPLES_GPT_GPT_TRAINER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/ddp/reducer.h"
#include "trainer_sdk/examples/gpt/gpt_batches.h"
#include "trainer_sdk/examples/gpt/gpt_options.h"
#include "trainer_sdk/gpt/gpt_stage.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// What is known of a step when it is done.
struct GptStep {
  // Mean over the micro-batches of all ranks.
  double loss = 0;
  double learning_rate = 0;
  // Before it was clipped.
  double gradient_norm = 0;
};

// One rank's part of a data-parallel training: its share of each step's
// micro-batches, gradients averaged by a Reducer, AdamW on every rank alike, so
// that all ranks keep the same weights.
//
// N ranks with one micro-batch each do bit for bit what one rank does that
// accumulates N: each micro-batch's gradient is computed by itself and then
// added, in the order in which the transport adds those of ranks (as long as N
// is a power of two, which divides exactly).
class GptTrainer {
 public:
  // Collective; `world` must outlive it. InvalidArgument: the text is too
  // short, or the ranks do not divide the micro-batches.
  static absl::StatusOr<std::unique_ptr<GptTrainer>> Create(
      const GptTrainingOptions& options, std::vector<int32_t> tokens,
      ProcessGroup& world);

  // Steps count from 0.
  absl::StatusOr<GptStep> Step(int64_t step);

  // The mean loss over windows of the text's last tenth, the same ones each
  // time.
  absl::StatusOr<double> Validate();

  // Equal on all ranks after every step.
  uint64_t WeightsHash() const;
  GptWeights& weights() { return weights_; }
  ReducerTimes times() const { return reducer_->times(); }

 private:
  GptTrainer(const GptTrainingOptions& options, std::vector<int32_t> tokens,
             ProcessGroup& world);

  absl::Status Prepare();
  int64_t micro_batches_of_rank() const {
    return options_.micro_batches / world_.size();
  }
  float* gradient(int tensor) const {
    return static_cast<float*>(reducer_->gradient(tensor));
  }
  void PlaceGradients();
  // This rank's micro-batch `index` of the step, counted from 0; its loss.
  absl::StatusOr<double> Pass(int64_t step, int64_t index);
  // Puts the gradient of micro-batch `index` to those before it.
  void Accumulate(int tensor, int64_t index);
  // The norm of the gradient, which is shortened if it is too long.
  double ClipGradients();
  void Update(int64_t step, double learning_rate);
  absl::StatusOr<double> MeanOverRanks(double value);

  const GptTrainingOptions options_;
  const GptBatches batches_;
  ProcessGroup& world_;
  GptWeights weights_;
  GptStage model_;
  std::vector<float> mean_;
  std::vector<float> square_;
  std::unique_ptr<ProcessGroup> gradients_group_;
  std::unique_ptr<Reducer> reducer_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_EXAMPLES_GPT_GPT_TRAINER_H_
