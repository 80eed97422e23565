#ifndef MUSTER_MODELS_CUDA_KERNELS_EMBEDDING_H_
#define MUSTER_MODELS_CUDA_KERNELS_EMBEDDING_H_

#include <cstdint>

#include "trainer_sdk/cuda/cuda_types.h"

namespace muster::models::cuda {

struct EmbeddingShape {
  int64_t batch = 1;
  int64_t time = 1;
  int64_t width = 1;
};

// As in kernels/embedding.h. T: float, Bfloat16.
template <typename T>
void EmbeddingForward(const EmbeddingShape& shape, const int32_t* tokens,
                      const T* token_table, const T* position_table, T* output,
                      CudaStream stream);

// The arrays of TokenRows (token_rows.h) in device memory.
struct DeviceTokenRows {
  int64_t count = 0;
  const int32_t* tokens = nullptr;
  const int32_t* begins = nullptr;
  const int32_t* rows = nullptr;
};

// Adds to the float32 gradients of both tables, in a fixed order.
template <typename T>
void EmbeddingBackward(const EmbeddingShape& shape,
                       const DeviceTokenRows& token_rows,
                       const T* output_gradient, float* token_gradient,
                       float* position_gradient, CudaStream stream);

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_EMBEDDING_H_
