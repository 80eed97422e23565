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
#include "trainer_sdk/ddp/pairwise_sum.h"
#include "trainer_sdk/ddp/reducer.h"
#include "trainer_sdk/optim/loss_scaler.h"
#include "trainer_sdk/optim/optimizer.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/timeline/timeline_recorder.h"
#include "trainer_sdk/timeline/trace_events.h"

namespace muster {

// A training on CPUs: gradients averaged by a Reducer.
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
class HostGptTrainer final : public GptTrainer {
 public:
  // Collective; `world` must outlive it. Errors are CheckTraining's and
  // FirstWeights'.
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
  // This rank's micro-batch `index` of the step, counted from 0; its loss.
  absl::StatusOr<double> Pass(int64_t step, int64_t index);
  // Puts the gradient of micro-batch `index` to those before it.
  void Accumulate(int tensor, int64_t index);
  // With the averaged gradients; their norm.
  absl::StatusOr<double> Update(int64_t step, double learning_rate);

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

#endif  // MUSTER_MODELS_TRAINER_HOST_GPT_TRAINER_H_
