#ifndef MUSTER_TRAINER_SDK_ZERO_SCATTER_HOOK_H_
#define MUSTER_TRAINER_SDK_ZERO_SCATTER_HOOK_H_

#include "trainer_sdk/ddp/comm_hook.h"
#include "trainer_sdk/ddp/reducer.h"

namespace muster {

// A communication hook that gives each rank the averages of its own part of a
// bucket (shard_partition.h). The rest of the bucket is undefined afterwards. A
// ShardedOptimizer needs only its own part. Only half as much data is sent as
// in an all_reduce.
class ScatterHook : public CommHook {
 public:
  absl::Status Reduce(GradientBucket& bucket, ProcessGroup& group) override;
  bool takes_device_memory() const override { return true; }
  bool scatters() const override { return true; }
};

// Returns `options` adapted for a Reducer whose gradients a ShardedOptimizer
// uses: averages stay in the buckets, parameters never move to other buckets,
// and the default hook is ScatterHook.
DdpOptions ForSharding(DdpOptions options = {});

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_ZERO_SCATTER_HOOK_H_
