#ifndef MUSTER_TRAINER_SDK_DDP_PAIRWISE_HOOK_H_
#define MUSTER_TRAINER_SDK_DDP_PAIRWISE_HOOK_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer_sdk/ddp/comm_hook.h"

namespace muster {

// Averages all ranks by a tree of pairs: (g0 + g1) + (g2 + g3). A sum of two is
// the same in either order, so the result is bit-identical over every
// transport. Together with PairwiseSum on each rank, it is also bit-identical
// for any number of ranks that share the same micro-batches: an elastic job
// trains the same way whatever its number of ranks. The cost is log2(N)
// all_reduces of two ranks each instead of one over N ranks.
class PairwiseHook : public CommHook {
 public:
  // Collective over the reducer's group. InvalidArgument: the number of ranks
  // is not a power of two.
  static absl::StatusOr<std::shared_ptr<PairwiseHook>> Create(
      ProcessGroup& group);

  absl::Status Reduce(GradientBucket& bucket, ProcessGroup& group) override;
  bool takes_device_memory() const override { return true; }

 private:
  PairwiseHook() = default;

  // By level: the group of this rank and the rank that differs in that bit.
  std::vector<std::unique_ptr<ProcessGroup>> pairs_;
};

// Adds the gradients of micro-batches in the order in which PairwiseHook adds
// those of ranks: (g0 + g1) + (g2 + g3). Keeps one sum for each level of this
// tree but the last: log2(micro-batches) times the elements in memory. Pure;
// ranges of elements are independent of each other.
class PairwiseSum {
 public:
  // `parts`: the number of summands, a power of two. `count`: the elements of
  // each.
  PairwiseSum(int64_t parts, int64_t count);

  // Adds elements [begin, begin + count) of summand `part`. Parts come in
  // order. With the last part, `sum` becomes the sum of all. `summand` is
  // overwritten, and may be the same memory as `sum`.
  void Add(int64_t part, int64_t begin, int64_t count, float* summand,
           float* sum);

 private:
  const int64_t parts_;
  std::vector<std::vector<float>> levels_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_PAIRWISE_HOOK_H_
