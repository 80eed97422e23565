#ifndef MUSTER_MODELS_CUDA_KERNELS_CAUSAL_SOFTMAX_H_
#define MUSTER_MODELS_CUDA_KERNELS_CAUSAL_SOFTMAX_H_

#include <cstdint>

#include "trainer_sdk/cuda/cuda_types.h"

namespace muster::models::cuda {

// Multiplies scores[matrices, time, time] by `factor` and replaces each row up
// to the diagonal by its softmax; elements above the diagonal become zero. T:
// float, Bfloat16.
template <typename T>
void CausalSoftmaxForward(int64_t matrices, int64_t time, float factor,
                          T* scores, CudaStream stream);

// Replaces `gradient`, that of the probabilities, by that of the scores; zero
// above the diagonal.
template <typename T>
void CausalSoftmaxBackward(const T* probabilities, int64_t matrices,
                           int64_t time, float factor, T* gradient,
                           CudaStream stream);

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_CAUSAL_SOFTMAX_H_
