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

// Compares what several ranks have of one tensor. Each of these ranks writes a
// share of it, so a checkpoint of replicas that differ would be a mix of them,
// which no rank ever had.
class ReplicaCheck {
 public:
  ReplicaCheck() = default;
  // `own`: rank `rank`'s slices, those that `plan` was made of.
  ReplicaCheck(const SharePlan& plan, const std::vector<SliceRange>& own,
               int rank);

  // Digests of this rank's replicas as they are now, as bytes: eight for each
  // range. Reads all of them once.
  std::string Digests(const std::vector<CheckpointSlice>& slices) const;

 private:
  // By range: where it is in this rank's slices.
  std::vector<std::vector<ShardCopy>> places_;
};

// `digests`: of each rank, by rank. FailedPrecondition: two ranks' replicas
// differ: which ranks and tensor. DataLoss: a rank has told too few. Pure.
absl::Status CompareReplicas(const SharePlan& plan,
                             const std::vector<std::string_view>& digests);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_REPLICA_CHECK_H_
