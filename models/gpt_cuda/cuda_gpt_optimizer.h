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

// AdamW on a GPU for all weights of a model or for a rank's share: the float32
// master weights and both moments, 12 bytes per element of the share. Decay
// applies to matrices only. Does not communicate. T is the type that the passes
// read: float, Bfloat16. Calls that do not copy to the host return when the
// work is enqueued on the device's stream.
template <typename T>
class CudaGptOptimizer {
 public:
  // `from`: the weights that `weights` was made from. `own`: disjoint ranges of
  // the weights' array. `device` and `weights` must outlive it.
  // ResourceExhausted: not enough device memory.
  static absl::StatusOr<std::unique_ptr<CudaGptOptimizer>> Create(
      Device& device, CudaGptWeights<T>& weights, const GptWeights& from,
      std::vector<ElementRange> own);
  // For all weights.
  static absl::StatusOr<std::unique_ptr<CudaGptOptimizer>> Create(
      Device& device, CudaGptWeights<T>& weights, const GptWeights& from);

  // The sum of squares of the share's gradient. Blocks.
  double GradientSquareSum();
  // Updates the share by its gradients, and writes the values that the passes
  // read.
  void Step(const AdamWOptions& options, const OptimizerStep& step);

  // The share as pieces of tensors, and its number of elements.
  const std::vector<TensorPiece>& pieces() const { return pieces_; }
  int64_t count() const { return count_; }
  // Device memory in bytes.
  int64_t bytes() const { return arrays_.bytes(); }

  // The arrays kept from step to step.
  enum class Kept { kTrained, kMean, kSquare };
  // Copies all pieces, concatenated, to to[count()]. Blocks.
  void CopyOut(Kept kept, float* to) const;
  // Copies from the host, whose memory may be changed when this returns. Call
  // Round after kTrained was copied.
  void CopyIn(Kept kept, const float* from);
  // Rounds this rank's master weights to the compute type.
  void Round();

 private:
  CudaGptOptimizer(Device& device, CudaGptWeights<T>& weights,
                   std::vector<ElementRange> own);
  absl::Status Fill(const GptWeights& from);
  float* Find(Kept kept) const;
  // Calls visit(piece, its offset in the weights' array, its offset in the kept
  // arrays).
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
  // One sum per range, followed by working memory.
  double* sums_ = nullptr;
};

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_GPT_CUDA_CUDA_GPT_OPTIMIZER_H_
