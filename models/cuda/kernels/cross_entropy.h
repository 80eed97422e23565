#ifndef MUSTER_MODELS_CUDA_KERNELS_CROSS_ENTROPY_H_
#define MUSTER_MODELS_CUDA_KERNELS_CROSS_ENTROPY_H_

#include <cstdint>

#include "trainer_sdk/cuda/cuda_types.h"

namespace muster::models::cuda {

// As in kernels/cross_entropy.h, but rows are `stride` elements apart: the
// 50257 classes of GPT-2 are padded, because products are slow otherwise.
// *mean_loss is in device memory. `losses`: working memory of `rows` elements.
// T: float, Bfloat16.
template <typename T>
void CrossEntropy(const T* logits, const int32_t* targets, int64_t rows,
                  int64_t classes, int64_t stride, float* losses,
                  double* mean_loss, CudaStream stream);

// The same, and replaces the logits by their gradient times `factor`. The
// padding between rows, which belongs to no class, becomes 0.
template <typename T>
void CrossEntropyWithGradient(T* logits, const int32_t* targets, int64_t rows,
                              int64_t classes, int64_t stride, float factor,
                              float* losses, double* mean_loss,
                              CudaStream stream);

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_CROSS_ENTROPY_H_
