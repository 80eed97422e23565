#ifndef MUSTER_MODELS_CUDA_KERNELS_LAYER_NORM_H_
#define MUSTER_MODELS_CUDA_KERNELS_LAYER_NORM_H_

#include <cstdint>

#include "trainer_sdk/cuda/cuda_types.h"

namespace muster::models::cuda {

// As in kernels/layer_norm.h; mean and scale are float32. The residual stream
// is added by the preceding product (with beta 1), which needs no extra memory
// traffic; a norm that added it would. T: float, Bfloat16.
template <typename T>
void LayerNormForward(const T* input, const T* gain, const T* bias,
                      int64_t rows, int64_t width, T* output, float* mean,
                      float* scale, CudaStream stream);

// Number of elements of working memory for the backward pass.
int64_t LayerNormScratchCount(int64_t rows, int64_t width);

// Adds to input_gradient, and to the float32 gradients of gain and bias, in a
// fixed order. `bias_gradient` may be null.
template <typename T>
void LayerNormBackward(const T* output_gradient, const T* input, const T* gain,
                       const float* mean, const float* scale, int64_t rows,
                       int64_t width, float* scratch, T* input_gradient,
                       float* gain_gradient, float* bias_gradient,
                       CudaStream stream);

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_LAYER_NORM_H_
