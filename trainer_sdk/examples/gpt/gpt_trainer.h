#ifndef MUSTER_TRAINER_SDK_EXAMPLES_GPT_GPT_TRAINER_H_
#define MUSTER_TRAINER_SDK_EXAMPLES_GPT_GPT_TRAINER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/ddp/reducer.h"
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

  // Tokens drawn one after the other, each given those before it, beginning
  // with `tokens`.
  std::vector<int32_t> Sample(std::vector<int32_t> tokens, int64_t count);

  // Equal on all ranks after every step.
  uint64_t WeightsHash() const;
  const GptWeights& weights() const { return weights_; }
  ReducerTimes times() const { return reducer_->times(); }

 private:
  GptTrainer(const GptTrainingOptions& options, std::vector<int32_t> tokens,
             ProcessGroup& world);

  absl::Status Prepare();
  void PlaceGradients();
  // A micro-batch of windows of tokens [begin, end).
  GptMicroBatch Batch(uint64_t seed, int64_t step, int64_t batch, int64_t begin,
                      int64_t end) const;
  // Adds the micro-batch's gradients; its loss.
  absl::StatusOr<double> Pass(GptMicroBatch micro_batch, GradientSync sync);
  // The norm of the gradient, which is shortened if it is too long.
  double ClipGradients();
  void Update(int64_t step, double learning_rate);
  absl::StatusOr<double> MeanOverRanks(double value);

  const GptTrainingOptions options_;
  const std::vector<int32_t> tokens_;
  // The first that is for validation.
  const int64_t held_back_;
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
