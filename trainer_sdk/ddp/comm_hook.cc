#include "trainer_sdk/ddp/comm_hook.h"

#include "trainer_sdk/process_group/operations.h"

namespace muster {

absl::Status AllReduceHook::Reduce(GradientBucket& bucket,
                                   ProcessGroup& group) {
  return bucket.Run(AllReduce(bucket.data, bucket.data, bucket.count,
                              bucket.dtype, ReduceOp::kAvg),
                    group);
}

}  // namespace muster
