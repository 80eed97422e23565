#ifndef MUSTER_MODELS_CUDA_KERNELS_SQUARE_SUM_H_
#define MUSTER_MODELS_CUDA_KERNELS_SQUARE_SUM_H_

#include <cstdint>

#include "models/cuda/kernels/cuda_stream.h"

namespace muster::cuda {

// Number of elements of working memory.
constexpr int64_t kSquareSumScratch = 512;

// Sets *sum, in device memory, to the sum of squares, in float64 and in a fixed
// order; for the norm of gradients. NaN if an element is.
void SquareSum(const float* values, int64_t count, double* scratch, double* sum,
               CudaStream stream);

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_SQUARE_SUM_H_
