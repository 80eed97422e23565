#ifndef MUSTER_MODELS_CUDA_KERNELS_GELU_H_
#define MUSTER_MODELS_CUDA_KERNELS_GELU_H_

#include <cstdint>

#include "trainer_sdk/cuda/cuda_types.h"

namespace muster::models::cuda {

// As in kernels/gelu.h, for input[rows, width] + bias[width], where bias may be
// null. The slope is recomputed in the backward pass, which costs less than to
// store and read it. In this and the other kernels' headers all pointers are to
// device memory, and all calls return when the work is enqueued. T: float,
// Bfloat16.
template <typename T>
void BiasGeluForward(const T* input, const T* bias, int64_t rows, int64_t width,
                     T* output, CudaStream stream);

// Replaces `gradient`, that of the output, by that of input + bias.
template <typename T>
void BiasGeluBackward(const T* input, const T* bias, int64_t rows,
                      int64_t width, T* gradient, CudaStream stream);

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_GELU_H_
