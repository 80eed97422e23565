#ifndef MUSTER_TRAINER_SDK_DDP_COMM_HOOK_H_
#define MUSTER_TRAINER_SDK_DDP_COMM_HOOK_H_

#include "absl/status/status.h"
#include "trainer_sdk/ddp/gradient_bucket.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// How the buckets of all ranks become their average: PyTorch's DDP
// communication hook.
class CommHook {
 public:
  virtual ~CommHook() = default;

  // Leaves in `bucket` the average over all ranks, or what is to stand for it;
  // the sum's division is the hook's own. On the reducer's thread, while the
  // backward pass goes on; bucket after bucket, in the same order on every
  // rank, with nothing else going on in `group`. An error breaks the reducer.
  virtual absl::Status Reduce(GradientBucket& bucket, ProcessGroup& group) = 0;

  // The parameters were put into other buckets: what was kept for each of them
  // is void. Between passes, on every rank.
  virtual void OnNewBuckets() {}
};

// The default: one all_reduce of AVG.
class AllReduceHook : public CommHook {
 public:
  absl::Status Reduce(GradientBucket& bucket, ProcessGroup& group) override;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_COMM_HOOK_H_
