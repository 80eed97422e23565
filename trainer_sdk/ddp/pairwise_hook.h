#ifndef MUSTER_TRAINER_SDK_DDP_PAIRWISE_HOOK_H_
#define MUSTER_TRAINER_SDK_DDP_PAIRWISE_HOOK_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer_sdk/ddp/comm_hook.h"

namespace muster {

// Averages all ranks by a tree of pairs: (g0 + g1) + (g2 + g3). A sum of two
// numbers is the same in either order, so the result is bit-identical over
// every transport. Together with PairwiseSum on each rank, the result is also
// bit-identical for any number of ranks that divide the same micro-batches, so
// an elastic job computes the same weights with any number of ranks. The cost
// is log2(N) all_reduces of two ranks each instead of one over N ranks.
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

  // Indexed by level: the group of two that consists of this rank and the rank
  // whose number differs in that bit.
  std::vector<std::unique_ptr<ProcessGroup>> pairs_;
};

// Adds the gradients of micro-batches in the order in which PairwiseHook adds
// those of ranks: (g0 + g1) + (g2 + g3). Keeps one sum for each level of this
// tree but the last: log2(micro-batches) times the elements in memory. Pure;
// ranges of elements are independent of each other.
class PairwiseSum {
 public:
  // `parts`: the number of summands, a power of two. `count`: the number of
  // elements of each summand.
  PairwiseSum(int64_t parts, int64_t count);

  // Adds elements [begin, begin + count) of summand `part`. Call it with
  // ascending `part`. With the last summand, `sum` becomes the sum of all.
  // `summand` is overwritten, and may be the same memory as `sum`.
  void Add(int64_t part, int64_t begin, int64_t count, float* summand,
           float* sum);

 private:
  const int64_t parts_;
  std::vector<std::vector<float>> levels_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_PAIRWISE_HOOK_H_
