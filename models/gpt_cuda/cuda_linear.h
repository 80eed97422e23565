#ifndef MUSTER_MODELS_GPT_CUDA_CUDA_LINEAR_H_
#define MUSTER_MODELS_GPT_CUDA_CUDA_LINEAR_H_

#include <cstdint>

#include "models/cuda/device.h"
#include "models/gpt_cuda/cuda_gpt_weights.h"

namespace muster::models::cuda {

// The size of a linear layer, as in kernels/linear.h.
struct LinearShape {
  int64_t rows = 0;
  int64_t in = 0;
  int64_t out = 0;
};

// output = input weight + bias + addend; bias and addend may be null, and the
// addend may be the same memory as the output. T: float, Bfloat16.
template <typename T>
void LinearForward(Device& device, const LinearShape& shape, const T* input,
                   const T* weight, const T* bias, const T* addend, T* output);

// Computes the gradient of the input from that of the output. Overwrites
// `input_gradient`.
template <typename T>
void LinearBackwardInput(Device& device, const LinearShape& shape,
                         const T* output_gradient, const T* weight,
                         T* input_gradient);

// Adds to the gradients of weight and bias. `scratch`:
// ColumnSumsScratchCount(rows, out) elements.
template <typename T>
void LinearBackwardWeight(Device& device, const LinearShape& shape,
                          const T* input, const T* output_gradient,
                          const CudaGptPair<T>& weights, float* scratch);

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_GPT_CUDA_CUDA_LINEAR_H_
