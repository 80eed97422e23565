#ifndef MUSTER_MODELS_CUDA_KERNELS_CAUSAL_SOFTMAX_H_
#define MUSTER_MODELS_CUDA_KERNELS_CAUSAL_SOFTMAX_H_

#include <cstdint>

#include "models/cuda/kernels/cuda_stream.h"

namespace muster::cuda {

// scores[matrices, time, time], times `factor`, become the probabilities of
// each row up to the diagonal; zero above it, whatever was there.
// T: float, Bfloat16.
template <typename T>
void CausalSoftmaxForward(int64_t matrices, int64_t time, float factor,
                          T* scores, CudaStream stream);

// `gradient`, that of the probabilities, becomes that of the scores; zero above
// the diagonal.
template <typename T>
void CausalSoftmaxBackward(const T* probabilities, int64_t matrices,
                           int64_t time, float factor, T* gradient,
                           CudaStream stream);

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_CAUSAL_SOFTMAX_H_
