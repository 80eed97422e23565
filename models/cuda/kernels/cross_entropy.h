#ifndef MUSTER_MODELS_CUDA_KERNELS_CROSS_ENTROPY_H_
#define MUSTER_MODELS_CUDA_KERNELS_CROSS_ENTROPY_H_

#include <cstdint>

#include "models/cuda/kernels/cuda_stream.h"

namespace muster::cuda {

// As kernels/cross_entropy.h, where rows are `stride` elements apart: GPT-2's
// 50257 classes are padded, without which products are slow. *mean_loss is in
// device memory. `losses` is working memory of `rows` elements. T: float,
// Bfloat16.
template <typename T>
void CrossEntropy(const T* logits, const int32_t* targets, int64_t rows,
                  int64_t classes, int64_t stride, float* losses,
                  double* mean_loss, CudaStream stream);

// The same, and the logits become their own gradient, times `factor`; what lies
// between the rows becomes 0, that of classes which do not exist.
template <typename T>
void CrossEntropyWithGradient(T* logits, const int32_t* targets, int64_t rows,
                              int64_t classes, int64_t stride, float factor,
                              float* losses, double* mean_loss,
                              CudaStream stream);

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_CROSS_ENTROPY_H_
