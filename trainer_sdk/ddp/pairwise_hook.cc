#include "trainer_sdk/ddp/pairwise_hook.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {

absl::StatusOr<std::shared_ptr<PairwiseHook>> PairwiseHook::Create(
    ProcessGroup& group) {
  const auto ranks = static_cast<uint32_t>(group.size());
  if (!std::has_single_bit(ranks)) {
    return absl::InvalidArgumentError(absl::StrCat(
        ranks, " ranks cannot add in pairs: it takes a power of two"));
  }
  std::shared_ptr<PairwiseHook> hook(new PairwiseHook);
  const auto rank = static_cast<uint32_t>(group.rank());
  for (uint32_t bit = 1; bit < ranks; bit <<= 1) {
    auto pair = group.Split(static_cast<int>(rank & ~bit), group.rank(),
                            absl::StrCat("pairs", bit));
    if (!pair.ok()) return pair.status();
    hook->pairs_.push_back(*std::move(pair));
  }
  return hook;
}

absl::Status PairwiseHook::Reduce(GradientBucket& bucket,
                                  ProcessGroup& /*group*/) {
  for (const std::unique_ptr<ProcessGroup>& pair : pairs_) {
    // Each all_reduce averages the gradients of two ranks, that is, halves
    // their sum. Halving is exact, so the final result is the same as if the
    // sum over all ranks were divided once.
    absl::Status status =
        bucket.Run(AllReduce(bucket.data, bucket.data, bucket.count,
                             bucket.dtype, ReduceOp::kAvg),
                   *pair);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

PairwiseSum::PairwiseSum(int64_t parts, int64_t count) : parts_(parts) {
  MUSTER_CHECK(parts > 0 && std::has_single_bit(static_cast<uint64_t>(parts)))
      << parts << " summands";
  levels_.resize(std::countr_zero(static_cast<uint64_t>(parts)),
                 std::vector<float>(static_cast<size_t>(count)));
}

void PairwiseSum::Add(int64_t part, int64_t begin, int64_t count,
                      float* summand, float* sum) {
  // Level n has room for one sum of 2^n summands. If the level is full, a
  // second sum of 2^n summands is added to the first, and the result moves to
  // the next level, like a carry in a binary counter.
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
