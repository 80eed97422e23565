#include "trainer_sdk/data/permutation.h"

#include <cstddef>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

namespace muster {
namespace {

// From this length on PyTorch 2 draws 64 bits: the remainder of 32 would favour
// small numbers. Checked against 2.15 at this length and one below; no test
// repeats that, which takes 2 GB.
constexpr int64_t kWideDraws = std::numeric_limits<uint32_t>::max() / 20;

}  // namespace

std::vector<int64_t> RandomPermutation(int64_t length, uint64_t seed) {
  std::mt19937 engine(static_cast<uint32_t>(seed));
  std::vector<int64_t> order(static_cast<size_t>(length));
  if (length < kWideDraws) {
    std::iota(order.begin(), order.end(), int64_t{0});
    for (int64_t i = 0; i + 1 < length; ++i) {
      std::swap(order[i],
                order[i + static_cast<int64_t>(engine()) % (length - i)]);
    }
    return order;
  }
  for (int64_t i = 0; i < length; ++i) {
    const uint64_t high = engine();
    const uint64_t draw = high << 32 | engine();
    const size_t other = draw % static_cast<uint64_t>(i + 1);
    order[i] = i;
    std::swap(order[i], order[other]);
  }
  return order;
}

}  // namespace muster
