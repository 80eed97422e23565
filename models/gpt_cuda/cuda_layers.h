#ifndef MUSTER_MODELS_GPT_CUDA_CUDA_LAYERS_H_
#define MUSTER_MODELS_GPT_CUDA_CUDA_LAYERS_H_

#include <cstdint>

#include "models/cuda/device.h"
#include "models/gpt_cuda/cuda_gpt_weights.h"
#include "models/kernels/kernel_table.h"

namespace muster::models::cuda {

// The size of a linear layer; see models/kernels/layers.h.
struct LinearShape {
  int64_t rows = 0;
  int64_t in = 0;
  int64_t out = 0;
};

// Computes a linear layer: output = input * weight + bias + addend, where * is
// the matrix product. Bias and addend may be null, and the addend may be the
// same memory as the output. T: float, Bfloat16.
template <typename T>
void LinearForward(Device& device, const LinearShape& shape, const T* input,
                   const T* weight, const T* bias, const T* addend, T* output);

// Computes the gradient of a linear layer's input from the gradient of its
// output. Overwrites `input_gradient`.
template <typename T>
void LinearBackwardInput(Device& device, const LinearShape& shape,
                         const T* output_gradient, const T* weight,
                         T* input_gradient);

// Adds to the gradients of a linear layer's weight and bias. `scratch` must
// have ColumnSumsScratchCount(rows, out) elements.
template <typename T>
void LinearBackwardWeight(Device& device, const LinearShape& shape,
                          const T* input, const T* output_gradient,
                          const CudaGptPair<T>& weights, float* scratch);

// Computes AttentionForward (models/kernels/layers.h) by matrix products over
// all heads of a sequence at once. The heads are read from qkv without a copy.
// The probabilities are of type T. T: float, Bfloat16.
template <typename T>
void AttentionForward(Device& device, const AttentionShape& shape, const T* qkv,
                      T* probabilities, T* output);

// Computes the backward pass of attention: the gradients of queries, keys and
// values, which overwrite `qkv_gradient`. `scratch` must have
// ProbabilitiesCount(shape) elements.
template <typename T>
void AttentionBackward(Device& device, const AttentionShape& shape,
                       const T* qkv, const T* probabilities,
                       const T* output_gradient, T* scratch, T* qkv_gradient);

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_GPT_CUDA_CUDA_LAYERS_H_
