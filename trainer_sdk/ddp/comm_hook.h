#ifndef MUSTER_TRAINER_SDK_DDP_COMM_HOOK_H_
#define MUSTER_TRAINER_SDK_DDP_COMM_HOOK_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"
#include "trainer_sdk/ddp/gradient_bucket.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/tensor/tensor.h"

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

  // Whether Reduce leaves each rank the average of its own part of a bucket
  // only, where there are several ranks.
  virtual bool scatters() const { return false; }

  // The reducer's tensors. `gradient.dtype` is the type in the buckets, and
  // `gradient.data` is not set. The reducer calls it when it is made, on every
  // rank.
  virtual void OnParameters(const std::vector<Tensor>& parameters,
                            const ProcessGroup& group) {
    (void)parameters, (void)group;
  }

  // The parameters were put into other buckets: what was kept for each of these
  // is void. Between passes, on every rank.
  virtual void OnNewBuckets() {}

  // This rank's part of what the hook keeps from step to step, as it is now;
  // the places stay the same. All ranks' slices together have each element of
  // each name at least once. Between passes, once there is a reducer, as are
  // the two below.
  virtual std::vector<CheckpointSlice> State() { return {}; }

  // Where that is to be read to from a checkpoint that has the tensors `saved`,
  // perhaps of another number of ranks: each rank's part, all of it together.
  // NotFound: there is nothing of it, and the hook begins anew.
  // FailedPrecondition: it is of something else, and what.
  virtual absl::StatusOr<std::vector<CheckpointSlice>> StateIn(
      const std::vector<CheckpointTensor>& saved) {
    (void)saved;
    return State();
  }

  // After the places that StateIn told were written.
  virtual void OnStateLoaded() {}
};

// The default: one all_reduce of AVG.
class AllReduceHook : public CommHook {
 public:
  absl::Status Reduce(GradientBucket& bucket, ProcessGroup& group) override;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_COMM_HOOK_H_
