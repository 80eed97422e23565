#ifndef MUSTER_MODELS_KERNELS_SUMS_H_
#define MUSTER_MODELS_KERNELS_SUMS_H_

#include <cmath>
#include <cstdint>
#include <cstring>

namespace muster::models {

// Returns term(0) + ... + term(count - 1), in eight interleaved sums. This is
// faster and more exact than one sum, and the order is the same on every
// machine. Static, because files compiled for AVX2 or AVX-512 include this
// header: if the function were not static, the linker could use the copy of
// such a file on a processor without AVX2 or AVX-512.
template <typename Term>
static inline auto SumOf(int64_t count, Term term) {
  constexpr int64_t kLanes = 8;
  using T = decltype(term(int64_t{0}));
  T lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += term(i + lane);
  }
  for (int64_t lane = 0; i < count; ++i, ++lane) lanes[lane] += term(i);
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) +
         ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

// Returns the largest of `count` values; `count` must be at least 1.
template <typename T>
static inline T LargestOf(const T* values, int64_t count) {
  constexpr int64_t kLanes = 8;
  T lanes[kLanes];
  for (T& lane : lanes) lane = values[0];
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const T value = values[i + lane];
      lanes[lane] = lanes[lane] > value ? lanes[lane] : value;
    }
  }
  T most = lanes[0];
  for (const T lane : lanes) most = most > lane ? most : lane;
  for (; i < count; ++i) most = most > values[i] ? most : values[i];
  return most;
}

// Returns e^x to within 2 units in the last place, without branches or tables,
// so that compilers vectorise it. Below -87.3 the result is about 1e-38, above
// 88 about 1.7e38; a NaN gives a NaN. Static: otherwise the linker could use a
// copy compiled for AVX2 on a processor without AVX2.
[[maybe_unused]] static inline float Exponential(float x) {
  // Clamps x to [-87.3, 88]; each line is one instruction. A NaN stays a NaN.
  const float above = -87.3f > x ? -87.3f : x;
  const float clamped = 88.0f < above ? 88.0f : above;
  // e^x = 2^n e^r with an integer n and |r| <= ln 2 / 2. Adding kRound = 1.5 *
  // 2^23 to a number rounds it to an integer, which is then in the low bits of
  // the sum.
  constexpr float kRound = 12582912.0f;
  const float shifted = clamped * 1.44269504089f + kRound;
  const float n = shifted - kRound;
  // r = x - n ln 2. ln 2 is split into two parts, so that the product of n and
  // the first part is exact.
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
  // The bits of the float 2^n: n + 127 in the exponent field, and zeros. The
  // low bits of `exponent` are n, because they are those of the float
  // kRound + n, and kRound is a constant whose bit pattern ends in zeros.
  const uint32_t bits = (static_cast<uint32_t>(exponent) + 127u) << 23;
  float power;
  std::memcpy(&power, &bits, sizeof(power));
  return p * power;
}

[[maybe_unused]] static inline double Exponential(double x) {
  return __builtin_exp(x);
}

}  // namespace muster::models

#endif  // MUSTER_MODELS_KERNELS_SUMS_H_
