#include "trainer_sdk/ddp/pairwise_sum.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace muster {

PairwiseSum::PairwiseSum(int64_t parts, int64_t count) : parts_(parts) {
  MUSTER_CHECK(parts > 0 && std::has_single_bit(static_cast<uint64_t>(parts)))
      << parts << " summands";
  levels_.resize(std::countr_zero(static_cast<uint64_t>(parts)),
                 std::vector<float>(static_cast<size_t>(count)));
}

void PairwiseSum::Add(int64_t part, int64_t begin, int64_t count,
                      float* summand, float* sum) {
  // As in a binary counter: sums are carried over full levels.
  size_t level = 0;
  for (int64_t bits = part; bits & 1; bits >>= 1) {
    const float* const before = levels_[level++].data() + begin;
    for (int64_t i = 0; i < count; ++i) summand[i] = before[i] + summand[i];
  }
  if (part + 1 < parts_) {
    std::copy_n(summand, count, levels_[level].data() + begin);
  } else if (sum != summand) {
    std::copy_n(summand, count, sum);
  }
}

}  // namespace muster
