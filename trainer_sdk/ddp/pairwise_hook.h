#ifndef MUSTER_TRAINER_SDK_DDP_PAIRWISE_HOOK_H_
#define MUSTER_TRAINER_SDK_DDP_PAIRWISE_HOOK_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer_sdk/ddp/comm_hook.h"

namespace muster {

// The average of all ranks as the sum of pairs, and of pairs of pairs:
// (g0 + g1) + (g2 + g3). A sum of two is the same in either order, so this is
// bit for bit the same over every transport, whatever its own order; and with
// PairwiseSum on each rank, the same on any number of ranks that share out the
// same micro-batches. An elastic job whose course does not depend on how many
// ranks it has, for log2(N) all_reduces of two ranks in place of one of N.
class PairwiseHook : public CommHook {
 public:
  // Collective, on the reducer's group. InvalidArgument: the number of ranks is
  // not a power of two.
  static absl::StatusOr<std::shared_ptr<PairwiseHook>> Create(
      ProcessGroup& group);

  absl::Status Reduce(GradientBucket& bucket, ProcessGroup& group) override;

 private:
  PairwiseHook() = default;

  // By level: this rank and the one whose number differs in that bit.
  std::vector<std::unique_ptr<ProcessGroup>> pairs_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_PAIRWISE_HOOK_H_
