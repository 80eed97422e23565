#ifndef MUSTER_MODELS_KERNELS_GELU_H_
#define MUSTER_MODELS_KERNELS_GELU_H_

#include <cstdint>

namespace muster::models {

// GPT-2's activation: the Gaussian error linear unit approximated with tanh
// (Hendrycks and Gimpel, 2016; "gelu_new"). `slope` gets its derivative, which
// is all that the backward pass needs. Buffers must not overlap. T: float,
// double.
template <typename T>
void GeluForward(const T* input, int64_t count, T* output, T* slope);

// Replaces `gradient`, that of the output, by that of the input.
template <typename T>
void GeluBackward(const T* slope, int64_t count, T* gradient);

}  // namespace muster::models

#endif  // MUSTER_MODELS_KERNELS_GELU_H_
