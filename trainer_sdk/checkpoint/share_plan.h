#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_SHARE_PLAN_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_SHARE_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/checkpoint/slice_list.h"

namespace muster {

// Who writes what. Pure: every rank works it out alike.
struct SharePlan {
  // All that there are, by name.
  std::vector<CheckpointTensor> tensors;
  // By rank: what it writes, by tensor and place. Together the shares are every
  // element of every tensor, once.
  std::vector<std::vector<SliceRange>> shares;
  // What several ranks have, and which ranks, ascending.
  struct Replicas {
    std::vector<int> owners;
    std::vector<SliceRange> ranges;
  };
  std::vector<Replicas> replicas;
};

// Deals out what the ranks have, given by rank: elements that several have are
// divided among these, as evenly by bytes as whole elements allow.
// InvalidArgument: two ranks that know a tensor by another type or shape, both
// named; elements that no rank has.
absl::StatusOr<SharePlan> PlanShares(
    const std::vector<std::vector<SliceRange>>& ranks);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_SHARE_PLAN_H_
