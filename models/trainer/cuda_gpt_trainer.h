#ifndef MUSTER_MODELS_TRAINER_CUDA_GPT_TRAINER_H_
#define MUSTER_MODELS_TRAINER_CUDA_GPT_TRAINER_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/cuda/device.h"
#include "models/cuda/device_arrays.h"
#include "models/gpt_cuda/cuda_gpt_optimizer.h"
#include "models/gpt_cuda/cuda_gpt_stage.h"
#include "models/gpt_cuda/cuda_gpt_weights.h"
#include "models/gpt_cuda/cuda_gradient_average.h"
#include "models/gpt_cuda/cuda_step_timeline.h"
#include "models/trainer/gpt_trainer.h"
#include "models/trainer/text/gpt_batches.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// A training on a GPU: weights, gradients and AdamW's state, or this rank's
// share of the state, stay there, and gradients are averaged on its second
// stream. What it keeps is what HostGptTrainer keeps, so either goes on from
// the other's checkpoints.
//
// T is what the passes compute in: float, or Bfloat16 with float32 master
// weights and gradients. A rank adds up its micro-batches' gradients in the
// order in which they come, in float32.
template <typename T>
class CudaGptTrainer final : public GptTrainer {
 public:
  // Collective over `world`, whose buffers are in the host's memory, and which
  // must outlive it. `gradients` has the same ranks and takes buffers of the
  // device, on its side stream; null where there is one rank. Errors are
  // CheckTraining's and FirstWeights'; ResourceExhausted: the device's memory
  // is full.
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
  using Kept = typename cuda::CudaGptOptimizer<T>::Kept;

  CudaGptTrainer(const GptTrainingOptions& options,
                 std::shared_ptr<const Tokens> tokens, ProcessGroup& world,
                 std::unique_ptr<cuda::Device> device,
                 std::unique_ptr<ProcessGroup> gradients);
  absl::Status Prepare();
  void MakeAverage();
  absl::Status MakeOptimizer();

  bool is_sharded() const {
    return average_ != nullptr &&
           options_.sharding == GptTrainingOptions::Sharding::kZero1;
  }
  int64_t micro_batches_of_rank() const {
    return options_.micro_batches / world_.size();
  }
  // Puts the passes of this rank's micro-batch `index`, counted from 0, on the
  // stream, and its loss to losses_.
  absl::Status Pass(int64_t step, int64_t index);
  // With the averaged gradients; their norm.
  absl::StatusOr<double> Update(int64_t step, double learning_rate);
  // Of the averages, wherever they are; waits for them.
  absl::StatusOr<double> GradientSquareSum();
  // Every rank's share of the weights to all.
  absl::Status Gather();
  void Fill(GptMicroBatch* from);

  const GptTrainingOptions options_;
  const GptBatches batches_;
  ProcessGroup& world_;
  // The device outlives all that is on it.
  const std::unique_ptr<cuda::Device> device_;
  const std::unique_ptr<ProcessGroup> group_;
  // The weights in the host's memory, as of the last call of State or Weights,
  // and what else a checkpoint has: the optimizer's pieces one behind the
  // other.
  GptWeights host_;
  std::vector<float> masters_;
  std::vector<float> means_;
  std::vector<float> squares_;
  std::unique_ptr<cuda::CudaGptWeights<T>> weights_;
  std::unique_ptr<cuda::CudaGptOptimizer<T>> optimizer_;
  std::unique_ptr<cuda::CudaGptStage<T>> stage_;
  std::unique_ptr<cuda::CudaGptMicroBatch<T>> micro_batch_;
  cuda::DeviceArrays arrays_;
  // Of a pass, from its end to its begin.
  T* gradient_ = nullptr;
  // By micro-batch of this rank.
  double* losses_ = nullptr;
  // Null: there is one rank.
  std::unique_ptr<cuda::CudaGradientAverage> average_;
  // Null: nothing is recorded.
  std::unique_ptr<cuda::CudaStepTimeline> timeline_;
  // Of the last steps.
  std::deque<std::vector<TimelineSpan>> spans_;
  // By tensor: its part of the model.
  const std::vector<int64_t> parts_;
  GptProgress progress_;
};

}  // namespace muster

#endif  // MUSTER_MODELS_TRAINER_CUDA_GPT_TRAINER_H_
