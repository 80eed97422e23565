#ifndef MUSTER_TRAINER_SDK_DDP_PAIRWISE_HOOK_H_
#define MUSTER_TRAINER_SDK_DDP_PAIRWISE_HOOK_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer_sdk/ddp/comm_hook.h"

namespace muster {

// Averages the gradients of all ranks by a binary tree: (g0 + g1) + (g2 + g3).
// Addition of two numbers is commutative, so the result is bit-identical over
// every transport. If each rank also adds its micro-batches with PairwiseSum,
// the number of ranks does not change the result by a single bit. So an elastic
// job computes the same weights with any number of ranks. The cost is log2(N)
// all_reduces of two ranks each instead of one over N ranks.
class PairwiseHook : public CommHook {
 public:
  // Makes a hook. Collective over the reducer's group. InvalidArgument: the
  // number of ranks is not a power of two.
  static absl::StatusOr<std::shared_ptr<PairwiseHook>> Create(
      ProcessGroup& group);

  absl::Status Reduce(GradientBucket& bucket, ProcessGroup& group) override;
  bool takes_device_memory() const override { return true; }

 private:
  PairwiseHook() = default;

  // For each bit of the rank number: the group of this rank and the rank whose
  // number differs only in this bit.
  std::vector<std::unique_ptr<ProcessGroup>> pairs_;
};

// Adds the gradients of micro-batches by a binary tree: (g0 + g1) + (g2 + g3),
// as PairwiseHook adds the gradients of ranks. Keeps log2(micro-batches) sums
// in memory: one for each level of the tree except the last. Pure; ranges of
// elements are independent of each other.
class PairwiseSum {
 public:
  // `parts`: the number of summands, a power of two. `count`: the number of
  // elements of each summand.
  PairwiseSum(int64_t parts, int64_t count);

  // Adds elements [begin, begin + count) of summand number `part`. Call it with
  // ascending `part`. The call with the last summand writes the sum of all
  // summands to `sum`. `summand` is overwritten, and may be the same memory as
  // `sum`.
  void Add(int64_t part, int64_t begin, int64_t count, float* summand,
           float* sum);

 private:
  const int64_t parts_;
  std::vector<std::vector<float>> levels_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_PAIRWISE_HOOK_H_
