#ifndef MUSTER_TRAINER_SDK_EXAMPLES_GPT_GPT_TRAINER_H_
#define MUSTER_TRAINER_SDK_EXAMPLES_GPT_GPT_TRAINER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/ddp/pairwise_sum.h"
#include "trainer_sdk/ddp/reducer.h"
#include "trainer_sdk/examples/gpt/gpt_batches.h"
#include "trainer_sdk/examples/gpt/gpt_checkpoint_state.h"
#include "trainer_sdk/examples/gpt/training_options.h"
#include "trainer_sdk/gpt/gpt_stage.h"
#include "trainer_sdk/optim/loss_scaler.h"
#include "trainer_sdk/optim/optimizer.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/timeline/timeline_recorder.h"
#include "trainer_sdk/timeline/trace_events.h"

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

// One rank's part of a data-parallel training: its share of each step's
// micro-batches, gradients averaged by a Reducer, AdamW, so that all ranks keep
// the same weights.
//
// N ranks with one micro-batch each do bit for bit what one rank does that
// accumulates N: each micro-batch's gradient is computed by itself and then
// added, in the order in which the transport adds those of ranks (as long as N
// is a power of two, which divides exactly, and gradients are float32). Added
// in pairs, any number of ranks that is a power of two does the same bit for
// bit.
//
// In bfloat16 and float16 weights are rounded to that and gradients averaged in
// it, while products and sums are float32's: the kernels of a CPU know no
// other.
class GptTrainer {
 public:
  // Collective; `world` must outlive it. Every rank begins with rank 0's
  // weights. InvalidArgument: the text is too short, or the ranks do not divide
  // the micro-batches. FailedPrecondition: ranks have other options than rank
  // 0.
  static absl::StatusOr<std::unique_ptr<GptTrainer>> Create(
      const GptTrainingOptions& options, std::shared_ptr<const Tokens> tokens,
      ProcessGroup& world);

  // Steps count from 0. OutOfRange: the gradient is no number, and no loss
  // scale is to blame.
  absl::StatusOr<GptStep> Step(int64_t step);

  // The mean loss over windows of the text's last tenth, the same ones each
  // time.
  absl::StatusOr<double> Validate();

  // All that the next step depends on: this rank's part of it, for checkpoints.
  // Places stay the same; after they were written from outside, Restore.
  std::vector<CheckpointSlice> State();
  const GptProgress& progress() const { return progress_; }
  absl::Status Restore(const GptProgress& progress);

  // Equal on all ranks after every step.
  uint64_t WeightsHash() const;
  GptWeights& weights() { return weights_; }
  ReducerTimes times() const { return reducer_->times(); }

  // What all ranks did in the last steps, on rank 0; elsewhere without ranks.
  // Collective; FailedPrecondition: the options name no file for it.
  absl::StatusOr<Timeline> GatherTimelines();

 private:
  GptTrainer(const GptTrainingOptions& options,
             std::shared_ptr<const Tokens> tokens, ProcessGroup& world);

  absl::Status Prepare();
  absl::Status BroadcastWeights();
  absl::Status MakeReducer();
  absl::Status MakeOptimizer();
  int64_t micro_batches_of_rank() const {
    return options_.micro_batches / world_.size();
  }
  bool is_mixed() const { return options_.precision != DType::kFloat32; }
  DdpParameter ParameterOf(int tensor);
  void PlaceGradients();
  // This rank's micro-batch `index` of the step, counted from 0; its loss.
  absl::StatusOr<double> Pass(int64_t step, int64_t index);
  // Puts the gradient of micro-batch `index` to those before it.
  void Accumulate(int tensor, int64_t index);
  // With the averaged gradients; their norm.
  absl::StatusOr<double> Update(int64_t step, double learning_rate);
  // Of losses by micro-batch, of which each rank knows its own; others are 0.
  absl::StatusOr<double> MeanLoss(std::vector<double> losses);

  const GptTrainingOptions options_;
  const GptBatches batches_;
  ProcessGroup& world_;
  GptWeights weights_;
  GptStage model_;
  // The sum of several micro-batches' gradients, where the buckets' type is too
  // short for it.
  std::vector<float> accumulated_;
  // Null: gradients are added one after the other.
  std::unique_ptr<PairwiseSum> pairs_;
  // The reducer's and the optimizer's, one after the other, so that nothing
  // that goes on beside them is in their way.
  std::unique_ptr<ProcessGroup> group_;
  std::unique_ptr<Reducer> reducer_;
  std::unique_ptr<Optimizer> optimizer_;
  // Null: nothing is recorded.
  std::shared_ptr<TimelineRecorder> recorder_;
  // By tensor: its part of the model.
  const std::vector<int64_t> parts_;
  LossScaler scaler_;
  GptProgress progress_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_EXAMPLES_GPT_GPT_TRAINER_H_
