#ifndef MUSTER_MODELS_KERNELS_EXPONENTIAL_H_
#define MUSTER_MODELS_KERNELS_EXPONENTIAL_H_

#include <cmath>
#include <cstdint>
#include <cstring>

namespace muster::models {

// e^x to within 2 units in the last place, without branches or tables, so that
// compilers vectorise it. Below -87.3 the result is about 1e-38, above 88 about
// 1.7e38; a NaN gives a NaN. Static: see kernel_table.h.
[[maybe_unused]] static inline float Exponential(float x) {
  // One instruction each; a NaN stays a NaN.
  const float above = -87.3f > x ? -87.3f : x;
  const float clamped = 88.0f < above ? 88.0f : above;
  // e^x = 2^n e^r with integer n and |r| <= ln 2 / 2. Adding 1.5 * 2^23 rounds
  // to an integer, which is then in the low bits.
  constexpr float kRound = 12582912.0f;
  const float shifted = clamped * 1.44269504089f + kRound;
  const float n = shifted - kRound;
  // ln 2 in two parts; the product of n and the first part is exact.
  float r = clamped - n * 0.693145751953125f;
  r = r - n * 1.42860677e-6f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  int32_t exponent;
  std::memcpy(&exponent, &shifted, sizeof(exponent));
  // The low bits of kRound's own pattern are zero.
  const uint32_t bits = (static_cast<uint32_t>(exponent) + 127u) << 23;
  float power;
  std::memcpy(&power, &bits, sizeof(power));
  return p * power;
}

[[maybe_unused]] static inline double Exponential(double x) {
  return __builtin_exp(x);
}

}  // namespace muster::models

#endif  // MUSTER_MODELS_KERNELS_EXPONENTIAL_H_
