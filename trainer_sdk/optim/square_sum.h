#ifndef MUSTER_TRAINER_SDK_OPTIM_SQUARE_SUM_H_
#define MUSTER_TRAINER_SDK_OPTIM_SQUARE_SUM_H_

#include <array>
#include <cstdint>
#include <vector>

#include "trainer_sdk/tensor/tensor.h"

namespace muster {

// The exact sum of the squares of floats. An exact sum depends neither on the
// order of additions nor on the number of ranks. So the factor that clips
// gradients is bit-identical, however the gradients are distributed. The method
// is Kulisch's long accumulator: a fixed-point number that can hold the squares
// of up to 2^40 float32 values.
class SquareSum {
 public:
  // The fixed-point number has kDigits digits of 32 bits; the lowest digit
  // holds the square of the smallest float. Words holds these digits, least
  // significant first, and one further word, which is nonzero if some element
  // was not finite. To add the numbers of up to 2^30 ranks, add them word by
  // word, for example by an all_reduce of SUM.
  static constexpr int kDigits = 20;
  using Words = std::array<int64_t, kDigits + 1>;

  // Adds the squares of the elements to the sum.
  void Add(const TensorData& values);
  void Add(const float* values, int64_t count);

  Words words();

  // Returns the sum as a double; NaN if some element was NaN or infinite.
  static double Value(const Words& words);

  // Propagates the carries of the digits in `words`, so that every digit but
  // the most significant one is below 2^32. The value does not change.
  static void Carry(Words* words);

 private:
  // The number of lanes of `sums_`. `sums_` holds sums of squared mantissas,
  // indexed by lane and by the float's exponent field; Flush adds these sums to
  // the long accumulator. Successive additions use different lanes, so that the
  // processor can overlap additions for the same exponent.
  static constexpr int kLanes = 4;
  static constexpr int kExponents = 256;

  void Flush();

  std::array<std::array<uint64_t, kExponents>, kLanes> sums_{};
  // Number of elements that may still be added before a 64-bit entry of `sums_`
  // could overflow. At 0, the entries must be moved to `words_` (Flush).
  int64_t room_ = kMax;
  Words words_{};

  static constexpr int64_t kMax = 1 << 16;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_SQUARE_SUM_H_
