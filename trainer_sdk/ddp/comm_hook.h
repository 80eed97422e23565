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

// Replaces the gradients in a bucket by their average over all ranks: PyTorch's
// DDP communication hook.
class CommHook {
 public:
  virtual ~CommHook() = default;

  // Replaces the gradients in `bucket` by their average over all ranks, or an
  // approximation of it. The hook itself divides the sum by the number of
  // ranks. The reducer's thread calls Reduce during the backward pass, for one
  // bucket after another in the same order on every rank. No other code uses
  // `group` meanwhile. An error breaks the reducer. On a device, Reduce
  // enqueues its work on the stream for communication, for example by
  // GradientBucket::Run, and does not wait until the work is done.
  virtual absl::Status Reduce(GradientBucket& bucket, ProcessGroup& group) = 0;

  // Whether Reduce accepts buckets in device memory (GradientBucket::device).
  virtual bool takes_device_memory() const { return false; }

  // Whether Reduce, in a group of several ranks, gives each rank the average of
  // only one part of each bucket: the part that this rank owns.
  virtual bool scatters() const { return false; }

  // Passes the reducer's tensors to the hook. In each tensor, `gradient.dtype`
  // is the type that the gradient has in its bucket, and `gradient.data` is not
  // set. Called on every rank by Reducer::Create.
  virtual void OnParameters(const std::vector<Tensor>& parameters,
                            const ProcessGroup& group) {
    (void)parameters, (void)group;
  }

  // Called on every rank between passes, after the reducer has assigned the
  // parameters to new buckets. A hook must discard any state that it keeps per
  // bucket.
  virtual void OnNewBuckets() {}

  // This rank's slices of the state that the hook keeps from step to step. The
  // addresses of the slices never change. The slices of all ranks together
  // contain each element of each tensor at least once. State, StateIn and
  // OnStateLoaded may be called between passes, after Reducer::Create.
  virtual std::vector<CheckpointSlice> State() { return {}; }

  // Returns the memory into which the hook's state is to be read from a
  // checkpoint. `saved`: the tensors in the checkpoint, which another number of
  // ranks may have written. The ranks' slices together cover the state.
  // NotFound: the checkpoint has no state of this hook, which then starts with
  // an empty state. FailedPrecondition: the saved state does not fit; the
  // message says why.
  virtual absl::StatusOr<std::vector<CheckpointSlice>> StateIn(
      const std::vector<CheckpointTensor>& saved) {
    (void)saved;
    return State();
  }

  // Called after the checkpoint was read into the memory that StateIn returned.
  virtual void OnStateLoaded() {}
};

// The default hook: one all_reduce with ReduceOp::kAvg per bucket.
class AllReduceHook : public CommHook {
 public:
  absl::Status Reduce(GradientBucket& bucket, ProcessGroup& group) override;
  bool takes_device_memory() const override { return true; }
};

// Sends float32 gradients as 16-bit floats, which halves the bytes. Each
// gradient is rounded once before sending and once after receiving (PyTorch's
// bf16_compress_hook and fp16_compress_hook). Gradients of other types are
// averaged unchanged.
class CompressHook : public CommHook {
 public:
  // `type`: bfloat16 or float16. With float16, gradients beyond its range
  // become infinite.
  explicit CompressHook(DType type);

  absl::Status Reduce(GradientBucket& bucket, ProcessGroup& group) override;
  bool takes_device_memory() const override { return true; }

 private:
  const DType type_;
  // A buffer for the 16-bit copy of a bucket, in the memory of the buckets'
  // device. Its size fits the largest bucket so far.
  std::shared_ptr<void> narrow_;
  int64_t room_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_COMM_HOOK_H_
