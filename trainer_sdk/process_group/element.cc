#include "trainer_sdk/process_group/element.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace muster {
namespace {

// A 16-bit binary floating-point format.
struct Format {
  int exponent_bits;
  int mantissa_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int special() const { return (1 << exponent_bits) - 1; }
};
constexpr Format kBrain{8, 7};
constexpr Format kHalf{5, 10};

uint16_t Encode16(double value, Format format) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const uint16_t infinity =
      static_cast<uint16_t>(format.special() << format.mantissa_bits);
  if (std::isnan(value)) return sign | infinity | 1;
  value = std::fabs(value);
  if (std::isinf(value)) return sign | infinity;
  if (value == 0) return sign;
  int exponent = 0;
  std::frexp(value, &exponent);
  // `exponent` from frexp is one more than the exponent of the leading bit of
  // `value`, so subtract 1. The result must not be below the exponent of the
  // format's subnormal numbers.
  exponent = std::max(exponent - 1, 1 - format.bias());
  double units =
      std::nearbyint(std::ldexp(value, format.mantissa_bits - exponent));
  if (units == std::ldexp(1.0, format.mantissa_bits + 1)) {
    units /= 2;
    exponent++;
  }
  if (exponent > format.bias()) return sign | infinity;
  int bits = static_cast<int>(units);
  if (bits >= 1 << format.mantissa_bits) {
    bits -= 1 << format.mantissa_bits;
    bits |= (exponent + format.bias()) << format.mantissa_bits;
  }
  return static_cast<uint16_t>(sign | bits);
}

double Decode16(uint16_t bits, Format format) {
  const double sign = bits & 0x8000 ? -1 : 1;
  const int mantissa = bits & ((1 << format.mantissa_bits) - 1);
  const int exponent = (bits & 0x7fff) >> format.mantissa_bits;
  if (exponent == format.special()) {
    return mantissa != 0 ? std::nan("") : sign * INFINITY;
  }
  if (exponent == 0) {
    return sign *
           std::ldexp(mantissa, 1 - format.bias() - format.mantissa_bits);
  }
  return sign * std::ldexp(mantissa + (1 << format.mantissa_bits),
                           exponent - format.bias() - format.mantissa_bits);
}

template <typename T>
void Put(T value, void* to) {
  std::memcpy(to, &value, sizeof(value));
}

template <typename T>
T Taken(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

}  // namespace

void EncodeElement(double value, DType dtype, void* to) {
  switch (dtype) {
    case DType::kFloat32:
      return Put(static_cast<float>(value), to);
    case DType::kFloat64:
      return Put(value, to);
    case DType::kBFloat16:
      return Put(Encode16(value, kBrain), to);
    case DType::kFloat16:
      return Put(Encode16(value, kHalf), to);
    case DType::kInt8:
      return Put(static_cast<int8_t>(value), to);
    case DType::kInt32:
      return Put(static_cast<int32_t>(value), to);
    case DType::kInt64:
      return Put(static_cast<int64_t>(value), to);
  }
}

double DecodeElement(DType dtype, const void* from) {
  switch (dtype) {
    case DType::kFloat32:
      return Taken<float>(from);
    case DType::kFloat64:
      return Taken<double>(from);
    case DType::kBFloat16:
      return Decode16(Taken<uint16_t>(from), kBrain);
    case DType::kFloat16:
      return Decode16(Taken<uint16_t>(from), kHalf);
    case DType::kInt8:
      return Taken<int8_t>(from);
    case DType::kInt32:
      return Taken<int32_t>(from);
    case DType::kInt64:
      return static_cast<double>(Taken<int64_t>(from));
  }
  return 0;
}

bool IsFloat(DType dtype) { return EpsilonOf(dtype) != 0; }

double EpsilonOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return std::ldexp(1.0, -23);
    case DType::kFloat64:
      return std::ldexp(1.0, -52);
    case DType::kBFloat16:
      return std::ldexp(1.0, -kBrain.mantissa_bits);
    case DType::kFloat16:
      return std::ldexp(1.0, -kHalf.mantissa_bits);
    default:
      return 0;
  }
}

}  // namespace muster
