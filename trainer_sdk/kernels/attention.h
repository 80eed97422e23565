#ifndef MUSTER_TRAINER_SDK_KERNELS_ATTENTION_H_
#define MUSTER_TRAINER_SDK_KERNELS_ATTENTION_H_

#include <cstdint>

namespace muster {

// The size of causal self-attention.
struct AttentionShape {
  int64_t batch = 1;
  // Positions of a sequence.
  int64_t time = 1;
  int64_t heads = 1;
  // Of all heads together; heads divide it.
  int64_t width = 1;

  int64_t head_width() const { return width / heads; }
  // Elements of the probabilities.
  int64_t probabilities() const { return batch * heads * time * time; }
};

// Each position's values averaged over those up to it, weighted by how its
// query fits their keys (Vaswani et al., 2017). qkv[batch, time, 3 width] holds
// queries, keys and values side by side, output[batch, time, width] the result;
// probabilities[batch, heads, time, time] are kept for the backward pass, zero
// above the diagonal. T: float, double.
template <typename T>
void AttentionForward(const AttentionShape& shape, const T* qkv,
                      T* probabilities, T* output);

// Overwrites qkv_gradient. `scratch` holds time * time elements.
template <typename T>
void AttentionBackward(const AttentionShape& shape, const T* qkv,
                       const T* probabilities, const T* output_gradient,
                       T* scratch, T* qkv_gradient);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_KERNELS_ATTENTION_H_
