#include "trainer_sdk/optim/square_sum.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "trainer_sdk/reduce/reduce.h"

namespace muster {
namespace {

constexpr int kMantissaBits = 23;
constexpr int kDigitBits = 32;
constexpr int64_t kDigit = int64_t{1} << kDigitBits;
// The exponent of the lowest bit of the fixed-point sum: the smallest positive
// float is 2^-149, so its square is 2^-298.
constexpr int kLowestBit = -298;
// The exponent field of infinities and NaNs in a float.
constexpr int kNoNumber = 255;
// The number of 16-bit elements that are converted to float32 at a time.
constexpr int64_t kBlock = 2048;

struct Parts {
  uint32_t exponent;
  uint64_t mantissa;
};

Parts PartsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const uint32_t exponent = (bits >> kMantissaBits) & 0xff;
  const uint32_t hidden = exponent == 0 ? 0u : 1u << kMantissaBits;
  return {exponent, (bits & ((1u << kMantissaBits) - 1)) | hidden};
}

// Adds value * 2^bit to the fixed-point number `words`. The bits of this number
// are counted from 0, its lowest bit.
void AddAt(uint64_t value, int bit, SquareSum::Words* words) {
  const auto shifted = static_cast<unsigned __int128>(value)
                       << (bit % kDigitBits);
  for (int i = 0; i < 3; ++i) {
    (*words)[bit / kDigitBits + i] +=
        static_cast<int64_t>(shifted >> (i * kDigitBits)) & (kDigit - 1);
  }
}

}  // namespace

void SquareSum::Add(const TensorData& values) {
  const int64_t count = values.count;
  if (values.dtype == DType::kFloat32) {
    Add(static_cast<const float*>(values.data), count);
    return;
  }
  std::array<float, kBlock> block;
  for (int64_t at = 0; at < count; at += kBlock) {
    const int64_t size = std::min(kBlock, count - at);
    Widen(values.dtype,
          static_cast<const char*>(values.data) + at * SizeOf(values.dtype),
          block.data(), size);
    Add(block.data(), size);
  }
}

void SquareSum::Add(const float* values, int64_t count) {
  while (count > 0) {
    const int64_t size = std::min(count, room_);
    int64_t i = 0;
    for (; i + kLanes <= size; i += kLanes) {
      for (int lane = 0; lane < kLanes; ++lane) {
        const Parts parts = PartsOf(values[i + lane]);
        sums_[lane][parts.exponent] += parts.mantissa * parts.mantissa;
      }
    }
    for (; i < size; ++i) {
      const Parts parts = PartsOf(values[i]);
      sums_[0][parts.exponent] += parts.mantissa * parts.mantissa;
    }
    values += size;
    count -= size;
    room_ -= size;
    if (room_ == 0) Flush();
  }
}

void SquareSum::Flush() {
  for (int exponent = 0; exponent < kExponents; ++exponent) {
    // Subnormal floats, whose exponent field is 0, have the same scale as the
    // smallest normal floats, whose exponent field is 1.
    const int bit = 2 * (std::max(exponent, 1) - 1);
    for (std::array<uint64_t, kExponents>& sums : sums_) {
      if (sums[exponent] == 0) continue;
      if (exponent == kNoNumber) {
        words_[kDigits] = 1;
      } else {
        AddAt(sums[exponent], bit, &words_);
      }
      sums[exponent] = 0;
    }
  }
  Carry(&words_);
  room_ = kMax;
}

SquareSum::Words SquareSum::words() {
  Flush();
  return words_;
}

void SquareSum::Carry(Words* words) {
  for (int i = 0; i + 1 < kDigits; ++i) {
    (*words)[i + 1] += (*words)[i] / kDigit;
    (*words)[i] %= kDigit;
  }
}

double SquareSum::Value(const Words& words) {
  if (words[kDigits] != 0) return std::numeric_limits<double>::quiet_NaN();
  Words digits = words;
  Carry(&digits);
  double value = 0;
  for (int i = kDigits - 1; i >= 0; --i) {
    value +=
        std::ldexp(static_cast<double>(digits[i]), kLowestBit + i * kDigitBits);
  }
  return value;
}

}  // namespace muster
