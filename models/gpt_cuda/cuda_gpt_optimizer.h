#ifndef MUSTER_MODELS_GPT_CUDA_CUDA_GPT_OPTIMIZER_H_
#define MUSTER_MODELS_GPT_CUDA_CUDA_GPT_OPTIMIZER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/cuda/device.h"
#include "models/cuda/device_arrays.h"
#include "models/gpt/gpt_weights.h"
#include "models/gpt_cuda/cuda_gpt_weights.h"
#include "models/gpt_cuda/weight_shares.h"
#include "trainer_sdk/optim/adamw.h"
#include "trainer_sdk/optim/update_rule.h"

namespace muster::cuda {

// AdamW on a GPU for a model's weights, or for a rank's share of them: the
// float32 that are trained, and their means and squares, 12 bytes for each
// element of the share. Decay is for matrices alone. Does not communicate. T:
// what the passes read; float, Bfloat16. Calls that take no device memory to
// the host return when the work is on the device's stream.
template <typename T>
class CudaGptOptimizer {
 public:
  // `from`: what `weights` was made of. `own`: ranges of the weights' array
  // that do not overlap. `device` and `weights` must outlive it.
  // ResourceExhausted: the device's memory is full.
  static absl::StatusOr<std::unique_ptr<CudaGptOptimizer>> Create(
      Device& device, CudaGptWeights<T>& weights, const GptWeights& from,
      std::vector<ElementRange> own);
  // Of all weights.
  static absl::StatusOr<std::unique_ptr<CudaGptOptimizer>> Create(
      Device& device, CudaGptWeights<T>& weights, const GptWeights& from);

  // The share's square sum of the gradient; waits for it.
  double GradientSquareSum();
  // One step with what is in the share's gradients, for what the passes read.
  void Step(const AdamWOptions& options, const OptimizerStep& step);

  // The share by tensors, and its elements.
  const std::vector<TensorPiece>& pieces() const { return pieces_; }
  int64_t count() const { return count_; }
  // On the device.
  int64_t bytes() const { return arrays_.bytes(); }

  // What is kept from step to step.
  enum class Kept { kTrained, kMean, kSquare };
  // to[count()]: all pieces, one behind the other. Waits.
  void CopyOut(Kept kept, float* to) const;
  // The host's memory may be changed at once. After kTrained was copied in:
  // Round.
  void CopyIn(Kept kept, const float* from);
  // Makes what the passes read of what is trained, in the share.
  void Round();

 private:
  CudaGptOptimizer(Device& device, CudaGptWeights<T>& weights,
                   std::vector<ElementRange> own);
  absl::Status Fill(const GptWeights& from);
  float* Find(Kept kept) const;
  // Calls visit(piece, where it is in the weights' array, where among what is
  // kept).
  template <typename Visit>
  void ForEachPiece(Visit visit) const;

  Device& device_;
  CudaGptWeights<T>& weights_;
  const std::vector<ElementRange> own_;
  const std::vector<TensorPiece> pieces_;
  const int64_t count_;
  DeviceArrays arrays_;
  float* trained_ = nullptr;
  float* mean_ = nullptr;
  float* square_ = nullptr;
  // A range's sum each, behind what they are made of.
  double* sums_ = nullptr;
};

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_GPT_CUDA_CUDA_GPT_OPTIMIZER_H_
