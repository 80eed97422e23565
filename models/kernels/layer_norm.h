#ifndef MUSTER_MODELS_KERNELS_LAYER_NORM_H_
#define MUSTER_MODELS_KERNELS_LAYER_NORM_H_

#include <cstdint>

namespace muster::models {

// Normalises each row of `width` values to mean zero and variance one (after
// adding GPT-2's 1e-5 to the variance), then multiplies by gain and adds bias,
// which may be null (Ba et al., 2016). `mean` and `scale` (the reciprocal
// deviation), one per row, are kept for the backward pass. T: float, double.
template <typename T>
void LayerNormForward(const T* input, const T* gain, const T* bias,
                      int64_t rows, int64_t width, T* output, T* mean,
                      T* scale);

// Adds to input_gradient, which already has the residual's gradient, and to
// those of gain and bias.
template <typename T>
void LayerNormBackward(const T* output_gradient, const T* input, const T* gain,
                       const T* mean, const T* scale, int64_t rows,
                       int64_t width, T* input_gradient, T* gain_gradient,
                       T* bias_gradient);

}  // namespace muster::models

#endif  // MUSTER_MODELS_KERNELS_LAYER_NORM_H_
