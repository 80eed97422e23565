#ifndef MUSTER_TRAINER_SDK_KERNELS_GELU_H_
#define MUSTER_TRAINER_SDK_KERNELS_GELU_H_

#include <cstdint>

namespace muster {

// GPT-2's activation, the Gaussian error linear unit by a tanh (Hendrycks and
// Gimpel, 2016; "gelu_new"). T: float, double; float's tanh is within 3e-7.
template <typename T>
void GeluForward(const T* input, int64_t count, T* output);

// input_gradient = output_gradient times the slope at input; they may be the
// same.
template <typename T>
void GeluBackward(const T* input, const T* output_gradient, int64_t count,
                  T* input_gradient);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_KERNELS_GELU_H_
