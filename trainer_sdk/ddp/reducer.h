#ifndef MUSTER_TRAINER_SDK_DDP_REDUCER_H_
#define MUSTER_TRAINER_SDK_DDP_REDUCER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/ddp/backward_tracker.h"
#include "trainer_sdk/ddp/bucket_assignment.h"
#include "trainer_sdk/ddp/comm_hook.h"
#include "trainer_sdk/ddp/gradient_bucket.h"
#include "trainer_sdk/ddp/reducer_observer.h"
#include "trainer_sdk/device/device.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/tensor/tensor.h"

namespace muster {

// The memory in which the backward pass writes gradients and from which the
// optimizer reads their averages.
enum class GradientPlace {
  // The tensors' own memory (Tensor::gradient). Gradients are copied into the
  // bucket, and the average is copied back.
  kOwn,
  // In the buckets themselves, which the transport reaches without a copy
  // (PyTorch's gradient_as_bucket_view). Reducer::gradient returns the address.
  kBucket,
  // The tensors' own memory (Tensor::gradient) for the gradients only. They are
  // copied into the bucket, and the average stays in the bucket:
  // Reducer::average returns the average's address.
  kOwnToBucket,
  // The tensors' own memory (Tensor::gradient), reduced without a copy. A
  // bucket is the memory from its first gradient to its last, so the gradients
  // of each type must lie in the order of their tensors, with nothing between
  // them but gaps, whose contents are averaged as well. Needs
  // BucketOrder::kReverse.
  kInPlace,
};

struct DdpOptions {
  // The device with the gradients, which must outlive the reducer. Null: the
  // host. The group's operations must take the device's memory, as those of
  // NCCL do for a GPU. Every option works on a device; a hook must say so
  // (CommHook::takes_device_memory).
  Device* device = nullptr;
  BucketLimits limits = {};
  ParameterUse use = ParameterUse::kAll;
  GradientPlace place = GradientPlace::kOwn;
  BucketOrder order = BucketOrder::kObserved;
  // bfloat16 or float16: the type of the buckets, to which float32 gradients
  // are rounded when they are copied. Not for GradientPlace::kBucket and
  // kInPlace, where gradients keep their type.
  std::optional<DType> narrow_to = {};
  // Null: AllReduceHook.
  std::shared_ptr<CommHook> hook = {};
  // Receives the times of reductions. Null: no clock is read for them.
  std::shared_ptr<ReducerObserver> observer = {};
};

// Times, summed over all steps.
struct ReducerTimes {
  // Time that the reducer's thread spent copying and reducing; 0 on a device.
  Duration communication{};
  // The part of it for which Finish had to wait, so that it was not hidden
  // behind the backward pass.
  Duration exposed{};
  int64_t steps = 0;
};

// Averages the gradients of all ranks while the backward pass produces them:
// distributed data parallel (Li et al., VLDB 2020). Independent of any
// framework: the caller reports the begin of a backward pass, each complete
// gradient, and the end of the pass.
//
//   reducer->Begin(GradientSync::kReduce);
//   ... for each parameter, as its gradient comes: reducer->MarkReady(i) ...
//   reducer->Finish();     // all gradients are the average over all ranks
//
// Gradients are put into buckets: at first in reverse order of the parameters,
// after the first step in the order in which rank 0 had them ready. The
// reducer's own thread reduces full buckets, in the same order on every rank.
// The caller must not touch a gradient between its MarkReady and Finish.
//
// A group of one rank reduces nothing, unless there is a hook or gradients go
// to buckets.
//
// On a device there is no thread. MarkReady enqueues a full bucket on the
// stream for communication, after the current work of the caller's stream, and
// Finish makes later work of the caller's stream wait for all buckets; neither
// blocks. The exceptions block: Create, the end of a step with
// ParameterUse::kMayVary, and the first step with BucketOrder::kObserved.
//
// Begin, MarkReady, MarkUnused and Finish may be called from any thread, but
// one at a time. An error of communication breaks the reducer: every later call
// fails with it. Errors of use (backward_tracker.h) name the parameters.
class Reducer {
 public:
  // Collective, with the same tensors and options on every rank; averages the
  // tensors' gradients. `group` must outlive the reducer and must not be used
  // otherwise from Begin to Finish. FailedPrecondition: the ranks' tensors
  // differ; names them and the ranks. InvalidArgument: CheckData rejects a
  // gradient (not checked if gradients are in the buckets), or the options do
  // not fit together, the tensors or the device; says why.
  static absl::StatusOr<std::unique_ptr<Reducer>> Create(
      ProcessGroup& group, std::vector<Tensor> tensors,
      DdpOptions options = {});

  // Waits for pending reductions.
  ~Reducer();
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  absl::Status Begin(GradientSync sync);
  absl::Status MarkReady(int parameter);
  absl::Status MarkUnused(int parameter);
  // Ends the pass. Blocks until pending reductions are done (on a device: until
  // they are enqueued). After a pass with
  // kReduce, every gradient that any rank used in this step is the average; a
  // rank that did not use it counts as 0. Gradients that no rank used stay
  // unchanged (in buckets: they are 0).
  absl::Status Finish();
  // On a device: blocks until it has done all work, and says whether the
  // averages since the last call are what Finish promises. They are undefined
  // if the group broke, or the device failed, while it worked. Collective. Call
  // it before averages, or weights made of them, leave the device.
  absl::Status Confirm();

  // The address at which the backward pass writes the parameter's gradient.
  // With GradientPlace::kBucket it changes after the first Finish that reduced,
  // unless the order is BucketOrder::kReverse.
  void* gradient(int parameter) const;
  // The parameter's average after Finish. Its address is that of gradient(),
  // except with kOwnToBucket. Null if this rank has only a part of the average
  // (ForSharding).
  TensorData average(int parameter) const;

  const std::vector<GradientBucket>& buckets() const;
  const DdpOptions& options() const;
  Device& device() const;
  // The size of the group.
  int ranks() const;
  ReducerTimes times() const;

 private:
  class Body;
  explicit Reducer(std::unique_ptr<Body> body);

  std::unique_ptr<Body> body_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_REDUCER_H_
