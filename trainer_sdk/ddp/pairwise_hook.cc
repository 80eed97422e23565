#include "trainer_sdk/ddp/pairwise_hook.h"

#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
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
    // Division by two is exact, so it does not matter when it is done.
    absl::Status status =
        bucket.Run(AllReduce(bucket.data, bucket.data, bucket.count,
                             bucket.dtype, ReduceOp::kAvg),
                   *pair);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace muster
