#ifndef MUSTER_TRAINER_SDK_OPTIM_SQUARE_SUM_H_
#define MUSTER_TRAINER_SDK_OPTIM_SQUARE_SUM_H_

#include <array>
#include <cstdint>
#include <vector>

#include "trainer_sdk/tensor/tensor.h"

namespace muster {

// The sum of the squares of floats, exact, so that it is the same in whatever
// order and on however many ranks parts of it are added: a gradient is clipped
// by the same factor, bit for bit, wherever its parts are. After Kulisch's long
// accumulator: a fixed-point number that holds every square of a float32, of
// which there may be 2^40.
class SquareSum {
 public:
  // The number, in digits of 32 bits, the lowest, of the square of the least
  // float, first; then whether there was an element that is no finite number.
  // Sums of up to 2^30 ranks' words, word by word, are words again: an
  // all_reduce of SUM adds them.
  static constexpr int kDigits = 20;
  using Words = std::array<int64_t, kDigits + 1>;

  // Adds the elements' squares.
  void Add(const TensorData& values);
  void Add(const float* values, int64_t count);

  Words words();

  // The sum, rounded to a double; not a number if some element was none or
  // infinite.
  static double Value(const Words& words);

 private:
  // By a float's exponent: sums of squared mantissas. Several, so that
  // elements of one exponent need not wait for each other.
  static constexpr int kLanes = 4;
  static constexpr int kExponents = 256;

  void Flush();

  std::array<std::array<uint64_t, kExponents>, kLanes> sums_{};
  // Until a sum might overflow.
  int64_t room_ = kMost;
  Words words_{};

  static constexpr int64_t kMost = 1 << 16;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_SQUARE_SUM_H_
