#ifndef MUSTER_MODELS_GPT_CUDA_CUDA_GPT_BLOCK_H_
#define MUSTER_MODELS_GPT_CUDA_CUDA_GPT_BLOCK_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "models/cuda/device.h"
#include "models/gpt_cuda/cuda_gpt_weights.h"
#include "models/kernels/kernel_table.h"

namespace muster::models::cuda {

// A callback for backward passes. It is called with a tensor's index as soon as
// all work of the current pass on the tensor's gradient is enqueued.
using CudaGradientReady = std::function<void(int tensor)>;

// The data of a layer norm's forward pass that its backward pass needs.
template <typename T>
struct CudaNormActivations {
  T* output = nullptr;
  float* mean = nullptr;
  float* scale = nullptr;
};

// The data of one block that is kept from the forward pass to the backward
// pass, except the block's input.
template <typename T>
struct CudaBlockActivations {
  CudaNormActivations<T> norm_1;
  T* qkv = nullptr;
  T* probabilities = nullptr;
  T* attention = nullptr;
  // The block's input plus the output of attention.
  T* middle = nullptr;
  CudaNormActivations<T> norm_2;
  // The output of the perceptron's first layer, before the bias and the
  // activation.
  T* mlp = nullptr;
  T* gelu = nullptr;
};

// One transformer block on a GPU; the counterpart of GptBlock. T: float,
// Bfloat16.
template <typename T>
class CudaGptBlock {
 public:
  // `device` must outlive this object. The block's memory is valid if status()
  // is OK.
  CudaGptBlock(Device& device, const GptConfig& config, int64_t batch,
               int64_t time);

  const absl::Status& status() const { return arrays_.status(); }
  CudaBlockActivations<T> NewActivations(DeviceArrays& arrays) const;
  CudaNormActivations<T> NewNorm(DeviceArrays& arrays) const;

  void Forward(const CudaGptBlockWeights<T>& weights, const T* input,
               const CudaBlockActivations<T>& kept, T* output) const;

  // Replaces the gradient of the block's output in `gradient` by the gradient
  // of the block's input. Adds to the gradients of all weights.
  void Backward(const CudaGptBlockWeights<T>& weights, const T* input,
                const CudaBlockActivations<T>& kept, T* gradient,
                const CudaGradientReady& ready) const;

  // Performs a layer norm of the residual stream; also used for the stage's
  // final norm.
  void Norm(const CudaGptPair<T>& weights, const T* input,
            const CudaNormActivations<T>& kept) const;
  // Computes the backward pass of Norm: adds the gradient of the norm's input
  // to `input_gradient`, and adds to the gradients of the norm's weights.
  void NormBackward(const CudaGptPair<T>& weights, const T* input,
                    const CudaNormActivations<T>& kept,
                    const T* output_gradient, T* input_gradient) const;

 private:
  int64_t rows() const { return shape_.batch * shape_.time; }

  Device& device_;
  const AttentionShape shape_;
  // Working memory; its contents do not matter between calls.
  DeviceArrays arrays_;
  T* inner_;
  T* mlp_gradient_;
  T* qkv_gradient_;
  T* score_gradient_;
  float* sums_;
};

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_GPT_CUDA_CUDA_GPT_BLOCK_H_
