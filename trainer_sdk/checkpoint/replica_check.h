#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_REPLICA_CHECK_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_REPLICA_CHECK_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"
#include "trainer_sdk/checkpoint/shard_layout.h"
#include "trainer_sdk/checkpoint/share_plan.h"
#include "trainer_sdk/checkpoint/slice_list.h"

namespace muster {

// Checks that ranks which hold the same part of a tensor hold equal bytes. Each
// of these ranks writes only a share of it, so a checkpoint of differing
// replicas would be a mixture that no rank ever had.
class ReplicaCheck {
 public:
  ReplicaCheck() = default;
  // `own`: the slices of rank `rank` that `plan` was made from.
  ReplicaCheck(const SharePlan& plan, const std::vector<SliceRange>& own,
               int rank);

  // Digests of the current contents of this rank's replicas, eight bytes per
  // range. Reads all replicas once.
  std::string Digests(const std::vector<CheckpointSlice>& slices) const;

 private:
  // By range: its places in this rank's slices.
  std::vector<std::vector<ShardCopy>> places_;
};

// `digests`: those of all ranks, by rank. FailedPrecondition: the replicas of
// two ranks differ; names the ranks and the tensor. DataLoss: a rank sent too
// few digests. Pure.
absl::Status CompareReplicas(const SharePlan& plan,
                             const std::vector<std::string_view>& digests);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_REPLICA_CHECK_H_
