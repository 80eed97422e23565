#ifndef MUSTER_MODELS_CUDA_KERNELS_CONVERT_H_
#define MUSTER_MODELS_CUDA_KERNELS_CONVERT_H_

#include <cstdint>

#include "models/cuda/kernels/bfloat16.h"
#include "models/cuda/kernels/cuda_stream.h"

namespace muster::cuda {

// Narrow rounds to nearest, ties to even. Buffers must not overlap.
void Narrow(const float* from, int64_t count, Bfloat16* to, CudaStream stream);
void Widen(const Bfloat16* from, int64_t count, float* to, CudaStream stream);

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_CONVERT_H_
