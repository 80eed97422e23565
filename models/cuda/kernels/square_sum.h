#ifndef MUSTER_MODELS_CUDA_KERNELS_SQUARE_SUM_H_
#define MUSTER_MODELS_CUDA_KERNELS_SQUARE_SUM_H_

#include <cstdint>

#include "models/cuda/kernels/cuda_stream.h"

namespace muster::cuda {

// Elements of working memory.
constexpr int64_t kSquareSumScratch = 512;

// *sum, in device memory, is that of the squares: in float64, in the same order
// always, for gradients' norm. No number if an element is none.
void SquareSum(const float* values, int64_t count, double* scratch, double* sum,
               CudaStream stream);

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_SQUARE_SUM_H_
