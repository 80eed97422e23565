#ifndef MUSTER_MODELS_KERNELS_ATTENTION_H_
#define MUSTER_MODELS_KERNELS_ATTENTION_H_

#include "models/kernels/attention_shape.h"

namespace muster {

// Each position's values averaged over those up to it, weighted by how its
// query fits their keys (Vaswani et al., 2017). qkv[batch, time, 3 width] holds
// queries, keys and values side by side, output[batch, time, width] the result;
// probabilities[batch, heads, time, time] are kept for the backward pass, zero
// above the diagonal. What the diagonal hides is not computed. `scratch` holds
// AttentionScratchCount elements. T: float, double.
template <typename T>
void AttentionForward(const AttentionShape& shape, const T* qkv, T* scratch,
                      T* probabilities, T* output);

// Overwrites qkv_gradient.
template <typename T>
void AttentionBackward(const AttentionShape& shape, const T* qkv,
                       const T* probabilities, const T* output_gradient,
                       T* scratch, T* qkv_gradient);

}  // namespace muster

#endif  // MUSTER_MODELS_KERNELS_ATTENTION_H_
