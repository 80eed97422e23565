#ifndef MUSTER_MODELS_CUDA_KERNELS_SQUARE_SUM_H_
#define MUSTER_MODELS_CUDA_KERNELS_SQUARE_SUM_H_

#include <cstdint>

#include "models/cuda/kernels/cuda_stream.h"
#include "trainer_sdk/process_group/dtype.h"

namespace muster::models::cuda {

// Adds the squares of `count` float32, bfloat16 or float16 elements to the
// SquareSum::Words (trainer_sdk/optim/square_sum.h) at `words`, which is in
// device memory. Exact, so the order of additions does not matter. Each digit
// grows by less than 2^48.
void AddSquares(const void* values, DType type, int64_t count, int64_t* words,
                CudaStream stream);

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_SQUARE_SUM_H_
