#include "models/kernels/layer_norm.h"

#include "models/kernels/best_kernels.h"

namespace muster::models {

template <typename T>
void LayerNormForward(const T* input, const T* gain, const T* bias,
                      int64_t rows, int64_t width, T* output, T* mean,
                      T* scale) {
  BestKernels<T>().layer_norm_forward(input, gain, bias, rows, width, output,
                                      mean, scale);
}

template <typename T>
void LayerNormBackward(const T* output_gradient, const T* input, const T* gain,
                       const T* mean, const T* scale, int64_t rows,
                       int64_t width, T* input_gradient, T* gain_gradient,
                       T* bias_gradient) {
  BestKernels<T>().layer_norm_backward(output_gradient, input, gain, mean,
                                       scale, rows, width, input_gradient,
                                       gain_gradient, bias_gradient);
}

#define MUSTER_LAYER_NORM(T)                                                 \
  template void LayerNormForward<T>(const T*, const T*, const T*, int64_t,   \
                                    int64_t, T*, T*, T*);                    \
  template void LayerNormBackward<T>(const T*, const T*, const T*, const T*, \
                                     const T*, int64_t, int64_t, T*, T*, T*)
MUSTER_LAYER_NORM(float);
MUSTER_LAYER_NORM(double);
#undef MUSTER_LAYER_NORM

}  // namespace muster::models
