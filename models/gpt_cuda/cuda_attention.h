#ifndef MUSTER_MODELS_GPT_CUDA_CUDA_ATTENTION_H_
#define MUSTER_MODELS_GPT_CUDA_CUDA_ATTENTION_H_

#include "models/cuda/device.h"
#include "models/kernels/attention_shape.h"

namespace muster::models::cuda {

// As in kernels/attention.h, by products over all heads of a sequence at once.
// Heads are adjacent in qkv, so they need not be moved. The probabilities are
// of type T. T: float, Bfloat16.
template <typename T>
void AttentionForward(Device& device, const AttentionShape& shape, const T* qkv,
                      T* probabilities, T* output);

// Overwrites qkv_gradient. `scratch`: ProbabilitiesCount(shape) elements.
template <typename T>
void AttentionBackward(Device& device, const AttentionShape& shape,
                       const T* qkv, const T* probabilities,
                       const T* output_gradient, T* scratch, T* qkv_gradient);

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_GPT_CUDA_CUDA_ATTENTION_H_
