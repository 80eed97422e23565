#ifndef MUSTER_MODELS_TRAINER_HOST_GPT_TRAINER_H_
#define MUSTER_MODELS_TRAINER_HOST_GPT_TRAINER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/gpt/gpt_stage.h"
#include "models/trainer/gpt_trainer.h"
#include "models/trainer/text/gpt_batches.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/ddp/pairwise_hook.h"
#include "trainer_sdk/ddp/reducer.h"
#include "trainer_sdk/optim/optimizer.h"
#include "trainer_sdk/optim/step_plan.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/timeline/timeline_recorder.h"
#include "trainer_sdk/timeline/trace_events.h"

namespace muster::models {

// Trains a GPT model on CPUs. A Reducer averages the gradients of the ranks.
//
// With float32 gradients, N ranks with one micro-batch each give the same
// result, bit for bit, as one rank that accumulates N micro-batches. N must be
// a power of two, because division by N is then exact. For this purpose each
// micro-batch's gradient is computed separately. One rank adds its gradients in
// the order in which the transport adds those of the ranks. With pairwise
// addition, all numbers of ranks that are powers of two give the same result.
//
// With bfloat16 and float16, weights are rounded to that type, and gradients
// are averaged in that type. But products and sums are in float32, because the
// CPU kernels have no other type.
class HostGptTrainer final : public GptTrainer {
 public:
  // Collective. `world` must outlive the trainer. Errors are those of
  // CheckTraining and FirstWeights.
  static absl::StatusOr<std::unique_ptr<HostGptTrainer>> Create(
      const GptTrainingOptions& options, std::shared_ptr<const Tokens> tokens,
      ProcessGroup& world);

  absl::StatusOr<GptStep> Step(int64_t step) override;
  absl::StatusOr<double> Validate() override;
  absl::StatusOr<std::vector<CheckpointSlice>> State() override;
  const GptProgress& progress() const override { return progress_; }
  absl::Status Restore(const GptProgress& progress) override;
  absl::StatusOr<GptWeights*> Weights() override { return &weights_; }
  absl::StatusOr<double> MeasurePeak() override;
  absl::StatusOr<Timeline> GatherTimelines() override;

  ReducerTimes times() const { return reducer_->times(); }

 private:
  HostGptTrainer(const GptTrainingOptions& options,
                 std::shared_ptr<const Tokens> tokens, ProcessGroup& world);

  absl::Status Prepare();
  absl::Status MakeReducer();
  absl::Status MakeOptimizer();
  int64_t micro_batches_of_rank() const {
    return options_.micro_batches / world_.size();
  }
  bool is_mixed() const { return options_.precision != DType::kFloat32; }
  std::vector<Tensor> TensorsToTrain();
  void PlaceGradients();
  // Runs the forward and backward pass of this rank's micro-batch number
  // `index` (from 0) of the step. Returns the micro-batch's loss.
  absl::StatusOr<double> Pass(int64_t step, int64_t index);
  // Adds the gradient of the tensor with index `tensor`, computed from
  // micro-batch number `index`, to the sum over the step's earlier
  // micro-batches.
  void Accumulate(int tensor, int64_t index);
  // Updates the weights by the averaged gradients. Returns the gradient's norm.
  absl::StatusOr<double> Update(int64_t step, double learning_rate);

  const GptTrainingOptions options_;
  const GptBatches batches_;
  ProcessGroup& world_;
  GptWeights weights_;
  GptStage model_;
  // For each weight, the sum of the gradients of this rank's micro-batches so
  // far, in float32. Used if the type of the reducer's buckets is too narrow
  // for sums.
  std::vector<float> accumulated_;
  // Adds the gradients of micro-batches in pairs (GradientOrder::kPairwise);
  // null: they are added in order.
  std::unique_ptr<PairwiseSum> pairs_;
  // A group of the same ranks as world_, used by the reducer and, after the
  // reducer is done, by the optimizer. Operations of world_ may run at the same
  // time.
  std::unique_ptr<ProcessGroup> group_;
  std::unique_ptr<Reducer> reducer_;
  std::unique_ptr<Optimizer> optimizer_;
  // The recorder of the timeline; null: no timeline is recorded.
  std::shared_ptr<TimelineRecorder> recorder_;
  // Indexed by tensor: the index of the model's part that contains the tensor
  // (GptPartsOf).
  const std::vector<int64_t> parts_;
  LossScaler scaler_;
  GptProgress progress_;
};

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_HOST_GPT_TRAINER_H_
