#ifndef MUSTER_TRAINER_SDK_DDP_COMM_HOOK_H_
#define MUSTER_TRAINER_SDK_DDP_COMM_HOOK_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"
#include "trainer_sdk/ddp/gradient_bucket.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/tensor/tensor.h"

namespace muster {

// Turns the buckets of all ranks into their average: PyTorch's DDP
// communication hook.
class CommHook {
 public:
  virtual ~CommHook() = default;

  // Replaces `bucket` by the average over all ranks, or an approximation of it;
  // the hook divides the sum itself. Called on the reducer's thread, during the
  // backward pass, for one bucket after another in the same order on every
  // rank. Nothing else uses `group` meanwhile. An error breaks the reducer.
  // On a device, Reduce enqueues work on the stream for communication and does
  // not wait for it, as GradientBucket::Run does.
  virtual absl::Status Reduce(GradientBucket& bucket, ProcessGroup& group) = 0;

  // Whether Reduce takes buckets in the memory of any device
  // (GradientBucket::device), not only of the host.
  virtual bool takes_device_memory() const { return false; }

  // Whether Reduce gives each rank the average of only its own part of a
  // bucket, if there are several ranks.
  virtual bool scatters() const { return false; }

  // The reducer's tensors. `gradient.dtype` is the type of the gradients in
  // buckets; `gradient.data` is not set. The reducer calls it when it is made,
  // on every rank.
  virtual void OnParameters(const std::vector<Tensor>& parameters,
                            const ProcessGroup& group) {
    (void)parameters, (void)group;
  }

  // The parameters were assigned to new buckets: state kept per bucket is
  // invalid. Called between passes, on every rank.
  virtual void OnNewBuckets() {}

  // This rank's slices of the state that the hook keeps from step to step.
  // Their memory stays the same. The slices of all ranks together contain each
  // element of each name at least once. May be called between passes once the
  // reducer is made; the same holds for the two methods below.
  virtual std::vector<CheckpointSlice> State() { return {}; }

  // The memory into which the state is to be read from a checkpoint with the
  // tensors `saved`, possibly written by another number of ranks. The ranks'
  // slices together cover the state. NotFound: the checkpoint has no state of
  // this hook, which then starts afresh. FailedPrecondition: the state does not
  // fit, and why.
  virtual absl::StatusOr<std::vector<CheckpointSlice>> StateIn(
      const std::vector<CheckpointTensor>& saved) {
    (void)saved;
    return State();
  }

  // Called after the memory that StateIn returned was filled.
  virtual void OnStateLoaded() {}
};

// The default hook: one all_reduce with AVG.
class AllReduceHook : public CommHook {
 public:
  absl::Status Reduce(GradientBucket& bucket, ProcessGroup& group) override;
  bool takes_device_memory() const override { return true; }
};

// Sends float32 gradients as 16-bit floats, which halves the bytes. Each
// gradient is rounded once before it is sent and once when it comes back
// (PyTorch's bf16_compress_hook and fp16_compress_hook). Gradients of other
// types are averaged unchanged.
class CompressHook : public CommHook {
 public:
  // `type`: bfloat16, or float16, where gradients beyond its range become
  // infinite.
  explicit CompressHook(DType type);

  absl::Status Reduce(GradientBucket& bucket, ProcessGroup& group) override;
  bool takes_device_memory() const override { return true; }

 private:
  const DType type_;
  // Room for the longest bucket so far, on the device of the buckets.
  std::shared_ptr<void> narrow_;
  int64_t room_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_COMM_HOOK_H_
