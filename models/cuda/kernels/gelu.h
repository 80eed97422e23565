#ifndef MUSTER_MODELS_CUDA_KERNELS_GELU_H_
#define MUSTER_MODELS_CUDA_KERNELS_GELU_H_

#include <cstdint>

#include "models/cuda/kernels/cuda_stream.h"

namespace muster::cuda {

// As kernels/gelu.h, of input[rows, width] + bias[width], where bias may be
// null. The slope is not kept: computing it again costs less than reading it.
// All pointers here and in the other kernels' headers are to device memory; all
// calls return when the work is on the stream. T: float, Bfloat16.
template <typename T>
void BiasGeluForward(const T* input, const T* bias, int64_t rows, int64_t width,
                     T* output, CudaStream stream);

// `gradient`, that of the output, becomes that of input + bias.
template <typename T>
void BiasGeluBackward(const T* input, const T* bias, int64_t rows,
                      int64_t width, T* gradient, CudaStream stream);

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_GELU_H_
