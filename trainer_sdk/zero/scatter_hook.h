#ifndef MUSTER_TRAINER_SDK_ZERO_SCATTER_HOOK_H_
#define MUSTER_TRAINER_SDK_ZERO_SCATTER_HOOK_H_

#include "trainer_sdk/ddp/comm_hook.h"
#include "trainer_sdk/ddp/reducer.h"

namespace muster {

// Gives each rank the average of its own part of the bucket (shard_partition.h)
// only, with half of an all_reduce's communication: for a ShardedOptimizer,
// which needs no more. What is elsewhere in the bucket is void.
class ScatterHook : public CommHook {
 public:
  absl::Status Reduce(GradientBucket& bucket, ProcessGroup& group) override;
  bool scatters() const override { return true; }
};

// Options for a Reducer whose gradients a ShardedOptimizer takes: averages are
// in the buckets, buckets never change, and without another hook it is
// ScatterHook that reduces.
DdpOptions ForSharding(DdpOptions options = {});

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_ZERO_SCATTER_HOOK_H_
