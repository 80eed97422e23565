#include "trainer_sdk/kernels/layer_norm.h"

#include <cmath>

#include "trainer_sdk/kernels/sums.h"

namespace muster {

template <typename T>
void LayerNormForward(const T* input, const T* gain, const T* bias,
                      int64_t rows, int64_t width, T* output, T* mean,
                      T* scale) {
  for (int64_t i = 0; i < rows; ++i) {
    const T* const x = input + i * width;
    T* const y = output + i * width;
    const T m = SumOf(width, [&](int64_t j) { return x[j]; }) / T(width);
    const T variance =
        SumOf(width, [&](int64_t j) { return (x[j] - m) * (x[j] - m); }) /
        T(width);
    const T s = T{1} / std::sqrt(variance + T(kLayerNormEpsilon));
    for (int64_t j = 0; j < width; ++j) y[j] = (x[j] - m) * s * gain[j];
    if (bias != nullptr) {
      for (int64_t j = 0; j < width; ++j) y[j] += bias[j];
    }
    mean[i] = m;
    scale[i] = s;
  }
}

template <typename T>
void LayerNormBackward(const T* output_gradient, const T* input, const T* gain,
                       const T* mean, const T* scale, int64_t rows,
                       int64_t width, T* input_gradient, T* gain_gradient,
                       T* bias_gradient) {
  for (int64_t i = 0; i < rows; ++i) {
    const T* const x = input + i * width;
    const T* const dy = output_gradient + i * width;
    T* const dx = input_gradient + i * width;
    const T m = mean[i];
    const T s = scale[i];
    // What the mean and the deviation pass on.
    const T by_mean =
        SumOf(width, [&](int64_t j) { return dy[j] * gain[j]; }) / T(width);
    const T by_scale =
        SumOf(width,
              [&](int64_t j) { return dy[j] * gain[j] * (x[j] - m) * s; }) /
        T(width);
    for (int64_t j = 0; j < width; ++j) {
      const T normal = (x[j] - m) * s;
      gain_gradient[j] += dy[j] * normal;
      dx[j] += (dy[j] * gain[j] - by_mean - normal * by_scale) * s;
    }
    if (bias_gradient != nullptr) {
      for (int64_t j = 0; j < width; ++j) bias_gradient[j] += dy[j];
    }
  }
}

#define MUSTER_LAYER_NORM(T)                                                 \
  template void LayerNormForward<T>(const T*, const T*, const T*, int64_t,   \
                                    int64_t, T*, T*, T*);                    \
  template void LayerNormBackward<T>(const T*, const T*, const T*, const T*, \
                                     const T*, int64_t, int64_t, T*, T*, T*)
MUSTER_LAYER_NORM(float);
MUSTER_LAYER_NORM(double);
#undef MUSTER_LAYER_NORM

}  // namespace muster
