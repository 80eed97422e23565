#ifndef MUSTER_MODELS_KERNELS_GELU_H_
#define MUSTER_MODELS_KERNELS_GELU_H_

#include <cstdint>

namespace muster {

// GPT-2's activation, the Gaussian error linear unit by a tanh (Hendrycks and
// Gimpel, 2016; "gelu_new"), and its slope there, which is all that the
// backward pass needs. Nothing overlaps. T: float, double.
template <typename T>
void GeluForward(const T* input, int64_t count, T* output, T* slope);

// `gradient`, that of the output, becomes that of the input.
template <typename T>
void GeluBackward(const T* slope, int64_t count, T* gradient);

}  // namespace muster

#endif  // MUSTER_MODELS_KERNELS_GELU_H_
