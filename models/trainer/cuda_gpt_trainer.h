#ifndef MUSTER_MODELS_TRAINER_CUDA_GPT_TRAINER_H_
#define MUSTER_MODELS_TRAINER_CUDA_GPT_TRAINER_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/cuda/device.h"
#include "models/gpt_cuda/cuda_gpt_stage.h"
#include "models/gpt_cuda/cuda_gpt_weights.h"
#include "models/gpt_cuda/cuda_step_timeline.h"
#include "models/trainer/gpt_trainer.h"
#include "models/trainer/text/gpt_batches.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/ddp/reducer.h"
#include "trainer_sdk/optim/optimizer.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster::models {

// A training on a GPU. Weights, gradients and AdamW's state (or this rank's
// share of it) stay in device memory; a Reducer averages gradients on a second
// stream. The checkpoints have the same format as HostGptTrainer's, so each of
// the two trainers can resume from the other's checkpoints.
//
// T is the type in which the passes compute: float, or Bfloat16 with float32
// master weights and gradients. A rank adds the gradients of its micro-batches
// in float32, in the order of their numbers.
template <typename T>
class CudaGptTrainer final : public GptTrainer {
 public:
  // Collective over `world`, which uses host memory and must outlive the
  // trainer. `gradients`: a group of the same ranks that averages the
  // gradients; its operations accept device memory, on the device's side
  // stream. Null if there is only one rank. Errors are those of CheckTraining
  // and FirstWeights; ResourceExhausted: not enough device memory.
  static absl::StatusOr<std::unique_ptr<CudaGptTrainer>> Create(
      const GptTrainingOptions& options, std::shared_ptr<const Tokens> tokens,
      ProcessGroup& world, std::unique_ptr<cuda::Device> device,
      std::unique_ptr<ProcessGroup> gradients);

  absl::StatusOr<GptStep> Step(int64_t step) override;
  absl::StatusOr<double> Validate() override;
  absl::StatusOr<std::vector<CheckpointSlice>> State() override;
  const GptProgress& progress() const override { return progress_; }
  absl::Status Restore(const GptProgress& progress) override;
  absl::StatusOr<GptWeights*> Weights() override;
  absl::StatusOr<double> MeasurePeak() override;
  absl::StatusOr<Timeline> GatherTimelines() override;

 private:
  CudaGptTrainer(const GptTrainingOptions& options,
                 std::shared_ptr<const Tokens> tokens, ProcessGroup& world,
                 std::unique_ptr<cuda::Device> device,
                 std::unique_ptr<ProcessGroup> gradients);
  absl::Status Prepare();
  absl::Status MakeReducer();
  absl::Status MakeOptimizer();

  bool is_sharded() const {
    return group_ != nullptr &&
           options_.sharding == GptTrainingOptions::Sharding::kZero1;
  }
  int64_t micro_batches_of_rank() const {
    return options_.micro_batches / world_.size();
  }
  // Enqueues the forward and backward pass of this rank's micro-batch number
  // `index` (from 0), and the copy of its loss to losses_.
  absl::Status Pass(int64_t step, int64_t index);
  // Updates the weights by the averaged gradients. Returns the gradient's norm.
  absl::StatusOr<double> Update(int64_t step, double learning_rate);
  void Fill(GptMicroBatch* from);

  const GptTrainingOptions options_;
  const GptBatches batches_;
  ProcessGroup& world_;
  // The device. Declared before the objects that use it, so that it is
  // destroyed after them.
  const std::unique_ptr<cuda::Device> device_;
  const std::unique_ptr<ProcessGroup> group_;
  // A copy of the weights in host memory, updated by each call of State or
  // Weights.
  GptWeights host_;
  std::unique_ptr<cuda::CudaGptWeights<T>> weights_;
  // The recorder of the timeline; null: no timeline is recorded.
  std::shared_ptr<cuda::CudaStepTimeline> timeline_;
  std::unique_ptr<Reducer> reducer_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<cuda::CudaGptStage<T>> stage_;
  std::unique_ptr<cuda::CudaGptMicroBatch<T>> micro_batch_;
  cuda::DeviceArrays arrays_;
  // The gradient of the residual stream during a backward pass.
  T* gradient_ = nullptr;
  // The losses of this rank's micro-batches, indexed by micro-batch.
  double* losses_ = nullptr;
  // The timeline of the last steps: one element per step, with the step's
  // spans.
  std::deque<std::vector<TimelineSpan>> spans_;
  // Indexed by tensor: the index of the model's part that contains the tensor
  // (GptPartsOf).
  const std::vector<int64_t> parts_;
  GptProgress progress_;
};

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_CUDA_GPT_TRAINER_H_
