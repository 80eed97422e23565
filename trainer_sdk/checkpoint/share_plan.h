#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_SHARE_PLAN_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_SHARE_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/checkpoint/slice_list.h"

namespace muster {

// Which rank writes which elements. Pure: every rank computes the same plan.
struct SharePlan {
  // All tensors, sorted by name.
  std::vector<CheckpointTensor> tensors;
  // By rank: the ranges that it writes, sorted by tensor and position. Together
  // the shares contain every element of every tensor exactly once.
  std::vector<std::vector<SliceRange>> shares;
  // Ranges that several ranks have, with these ranks in ascending order.
  struct Replicas {
    std::vector<int> owners;
    std::vector<SliceRange> ranges;
  };
  std::vector<Replicas> replicas;
};

// Makes a plan from all ranks' ranges, given by rank. Elements that several
// ranks have are divided among them, as evenly by bytes as whole elements
// allow. InvalidArgument: two ranks declare a tensor with different types or
// shapes (names both), or no rank has some elements.
absl::StatusOr<SharePlan> PlanShares(
    const std::vector<std::vector<SliceRange>>& ranks);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_SHARE_PLAN_H_
