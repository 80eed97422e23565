#ifndef MUSTER_MODELS_KERNELS_ATTENTION_H_
#define MUSTER_MODELS_KERNELS_ATTENTION_H_

#include "models/kernels/attention_shape.h"

namespace muster::models {

// Causal self-attention (Vaswani et al., 2017): for each position, the average
// of the values up to it, weighted by how its query matches their keys.
// qkv[batch, time, 3 width] holds queries, keys and values side by side, and
// output[batch, time, width] the result. probabilities[batch, heads, time,
// time] are kept for the backward pass, zero above the diagonal. Elements above
// the diagonal are not computed. `scratch`: AttentionScratchCount elements. T:
// float, double.
template <typename T>
void AttentionForward(const AttentionShape& shape, const T* qkv, T* scratch,
                      T* probabilities, T* output);

// Overwrites qkv_gradient.
template <typename T>
void AttentionBackward(const AttentionShape& shape, const T* qkv,
                       const T* probabilities, const T* output_gradient,
                       T* scratch, T* qkv_gradient);

}  // namespace muster::models

#endif  // MUSTER_MODELS_KERNELS_ATTENTION_H_
