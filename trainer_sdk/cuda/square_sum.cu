#include <algorithm>
#include <cstring>

#include "trainer_sdk/cuda/element.h"
#include "trainer_sdk/cuda/kernels.h"

namespace muster::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int64_t kMaxBlocks = 512;
// Each thread adds up about this many elements. If the array is too long for
// kMaxBlocks blocks of such threads, each thread adds up more. With fewer
// elements per thread, adding up the threads' sums would take longer than
// squaring the elements.
constexpr int64_t kLeastElements = 16;

// Number of 32-bit digits of a sum, as in SquareSum; the lowest digit is in
// units of 2^-298. One more word follows the digits; it is nonzero if an
// element is not finite.
constexpr int kDigits = 20;
constexpr int kWords = kDigits + 1;
constexpr int kDigitBits = 32;
constexpr int kMantissaBits = 23;
constexpr unsigned kNoNumber = 255;

// The type of 64-bit integers that CUDA's atomicAdd accepts.
using Word = unsigned long long;
constexpr Word kDigitMask = (Word{1} << kDigitBits) - 1;

// Adds up the squares of all elements. Each thread keeps its partial sum, of
// kWords integers, in its own part of the shared memory, so that no thread
// waits for another.
template <typename T>
__global__ void AddEach(const T* values, int64_t count, Word* words) {
  __shared__ SharedArray<Word, kWords * kThreads> sums;
  const int me = static_cast<int>(threadIdx.x);
  for (int word = 0; word < kWords; ++word) sums[word * kThreads + me] = 0;
  const int64_t step = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + me; i < count;
       i += step) {
    const float value = ToFloat(values[i]);
    unsigned bits;
    memcpy(&bits, &value, sizeof(bits));
    const unsigned exponent = bits >> kMantissaBits & 0xff;
    if (exponent == kNoNumber) {
      sums[kDigits * kThreads + me] = 1;
      continue;
    }
    const Word hidden = exponent == 0 ? 0 : Word{1} << kMantissaBits;
    const Word mantissa = (bits & ((1u << kMantissaBits) - 1)) | hidden;
    const Word square = mantissa * mantissa;
    // Subnormal numbers, whose exponent field is 0, have the same scale as the
    // smallest normal numbers, whose exponent field is 1.
    const int bit = 2 * static_cast<int>(exponent == 0 ? 0 : exponent - 1);
    const int at = bit / kDigitBits * kThreads + me;
    const int shift = bit % kDigitBits;
    const Word low = square << shift;
    sums[at] += low & kDigitMask;
    sums[at + kThreads] += low >> kDigitBits;
    sums[at + 2 * kThreads] += shift == 0 ? 0 : square >> (64 - shift);
  }
  // Propagates carries, so that every digit but the last is below 2^32.
  for (int digit = 0; digit + 1 < kDigits; ++digit) {
    const int at = digit * kThreads + me;
    sums[at + kThreads] += sums[at] >> kDigitBits;
    sums[at] &= kDigitMask;
  }
  __syncthreads();
  if (me >= kWords) return;
  Word sum = 0;
  for (int i = 0; i < kThreads; ++i) sum += sums[me * kThreads + i];
  if (sum != 0) atomicAdd(words + me, sum);
}

}  // namespace

void AddSquares(const void* values, DType type, int64_t count, int64_t* words,
                CudaStream stream) {
  const Grid grid{.blocks = std::min(
                      kMaxBlocks, DividedUp(count, kThreads * kLeastElements)),
                  .threads = kThreads};
  WithElements(const_cast<void*>(values), type, [&](auto* elements) {
    using T = std::remove_pointer_t<decltype(elements)>;
    Launch(AddEach<T>, grid, stream, elements, count,
           reinterpret_cast<Word*>(words));
  });
}

}  // namespace muster::cuda
