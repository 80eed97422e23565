#ifndef MUSTER_MODELS_KERNELS_LINEAR_H_
#define MUSTER_MODELS_KERNELS_LINEAR_H_

#include <cstdint>

namespace muster::models {

// A linear layer: output[rows, out] = input[rows, in] weight[in, out] +
// bias[out]. The weight is laid out as in GPT-2's checkpoints, with one row per
// input. Without a bias, `bias` and its gradient are null. All arrays are dense
// and row-major. T: float, double.
template <typename T>
void LinearForward(const T* input, const T* weight, const T* bias, int64_t rows,
                   int64_t in, int64_t out, T* output);

// The same, but adds to the contents of `output`.
template <typename T>
void AddLinear(const T* input, const T* weight, const T* bias, int64_t rows,
               int64_t in, int64_t out, T* output);

// Computes the gradient of the input from that of the output. Overwrites
// `input_gradient`.
template <typename T>
void LinearBackwardInput(const T* output_gradient, const T* weight,
                         int64_t rows, int64_t in, int64_t out,
                         T* input_gradient);

// Adds to the gradients of weight and bias.
template <typename T>
void LinearBackwardWeight(const T* input, const T* output_gradient,
                          int64_t rows, int64_t in, int64_t out,
                          T* weight_gradient, T* bias_gradient);

}  // namespace muster::models

#endif  // MUSTER_MODELS_KERNELS_LINEAR_H_
