#include "trainer_sdk/kernels/gelu.h"

#include <cmath>

#include "trainer_sdk/kernels/exponential.h"

namespace muster {
namespace {

// sqrt(2 / pi)
constexpr double kFactor = 0.79788456080286535588;
constexpr double kCube = 0.044715;

inline double Tanh(double x) { return std::tanh(x); }

// By e^(2x), without a branch, so that it is done for many at once.
inline float Tanh(float x) {
  // Beyond it, tanh is 1 to float32's last bit.
  const float clamped = x > 10.0f ? 10.0f : x < -10.0f ? -10.0f : x;
  return 1.0f - 2.0f / (Exponential(2.0f * clamped) + 1.0f);
}

}  // namespace

template <typename T>
void GeluForward(const T* input, int64_t count, T* output) {
  for (int64_t i = 0; i < count; ++i) {
    const T x = input[i];
    const T t = Tanh(T(kFactor) * (x + T(kCube) * x * x * x));
    output[i] = T(0.5) * x * (T{1} + t);
  }
}

template <typename T>
void GeluBackward(const T* input, const T* output_gradient, int64_t count,
                  T* input_gradient) {
  for (int64_t i = 0; i < count; ++i) {
    const T x = input[i];
    const T t = Tanh(T(kFactor) * (x + T(kCube) * x * x * x));
    const T inner = T(kFactor) * (T{1} + T{3} * T(kCube) * x * x);
    const T slope = T(0.5) * (T{1} + t) + T(0.5) * x * (T{1} - t * t) * inner;
    input_gradient[i] = output_gradient[i] * slope;
  }
}

template void GeluForward<float>(const float*, int64_t, float*);
template void GeluForward<double>(const double*, int64_t, double*);
template void GeluBackward<float>(const float*, const float*, int64_t, float*);
template void GeluBackward<double>(const double*, const double*, int64_t,
                                   double*);

}  // namespace muster
