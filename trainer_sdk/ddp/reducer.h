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

// Where the backward pass writes gradients, and where the optimizer reads their
// averages.
enum class GradientPlace {
  // Gradients are written to, and averages read from, the tensors' own memory
  // (Tensor::gradient). Gradients are copied into the bucket, and the average
  // is copied back.
  kOwn,
  // Gradients are written to, and averages read from, the memory of the
  // buckets, which the transport accesses without a copy (PyTorch's
  // gradient_as_bucket_view). Reducer::gradient returns the address.
  kBucket,
  // Gradients are written to the tensors' own memory (Tensor::gradient) and
  // copied into the bucket. The averages stay in the bucket: Reducer::average
  // returns their addresses.
  kOwnToBucket,
  // Gradients are written to, and averages read from, the tensors' own memory
  // (Tensor::gradient), which is reduced without a copy. A bucket is the memory
  // from its first gradient to its last. So the gradients of each type must lie
  // in memory in the order of their tensors. Only gaps may lie between them,
  // and the contents of the gaps are averaged as well. Needs
  // BucketOrder::kReverse.
  kInPlace,
};

struct DdpOptions {
  // The device whose memory holds the gradients; it must outlive the reducer.
  // Null: the host. The group's operations must accept the device's memory, as
  // NCCL's do for a GPU. Every option works on a device. A hook works on a
  // device only if its method CommHook::takes_device_memory returns true.
  Device* device = nullptr;
  BucketLimits limits = {};
  ParameterUse use = ParameterUse::kAll;
  GradientPlace place = GradientPlace::kOwn;
  BucketOrder order = BucketOrder::kObserved;
  // The type of the buckets, bfloat16 or float16, to which float32 gradients
  // are rounded when they are copied into a bucket. Not allowed with
  // GradientPlace::kBucket and kInPlace, where gradients are not copied.
  std::optional<DType> narrow_to = {};
  // The hook that averages the buckets; null: AllReduceHook.
  std::shared_ptr<CommHook> hook = {};
  // Receives the times of reductions. Null: these times are not measured.
  std::shared_ptr<ReducerObserver> observer = {};
};

// The times that a reducer took on this rank, summed over all steps.
struct ReducerTimes {
  // The time that the reducer's thread spent on copying gradients and reducing
  // buckets; 0 if gradients are on a device.
  Duration communication{};
  // The time that Finish spent blocked: the part of `communication` that did
  // not overlap with the backward pass.
  Duration exposed{};
  int64_t steps = 0;
};

// Averages the gradients of all ranks while the backward pass produces them:
// distributed data parallel (Li et al., VLDB 2020). It works with any
// framework: the caller reports the beginning of a backward pass, each complete
// gradient, and the end of the pass.
//
//   reducer->Begin(GradientSync::kReduce);
//   ... for each parameter, as its gradient comes: reducer->MarkReady(i) ...
//   reducer->Finish();     // all gradients are the average over all ranks
//
// Gradients are put into buckets: at first in reverse order of the parameters,
// after the first step in the order in which rank 0's gradients became ready.
// The reducer's own thread reduces full buckets, in the same order on every
// rank. The caller must not touch a gradient between its MarkReady and Finish.
//
// In a group of one rank nothing is reduced, unless there is a hook,
// `narrow_to` is set or the place is GradientPlace::kOwnToBucket.
//
// If gradients are on a device, the reducer has no thread. MarkReady enqueues a
// full bucket on the stream for communication, after the current work of the
// caller's stream, and Finish makes later work of the caller's stream wait for
// all buckets; neither call blocks. These calls do block: Create, Confirm,
// Finish at the end of a step with ParameterUse::kMayVary, and Finish in the
// first step with BucketOrder::kObserved or ParameterUse::kStatic.
//
// Begin, MarkReady, MarkUnused and Finish may be called from any thread, but
// one at a time. An error of communication breaks the reducer: every later call
// fails with the same error. Errors of use (backward_tracker.h) name the
// parameters.
class Reducer {
 public:
  // Makes a reducer that averages the tensors' gradients. Collective, with the
  // same tensors and options on every rank. `group` must outlive the reducer
  // and must not be used by other code from Begin to Finish.
  // FailedPrecondition: the ranks' tensors differ; the message names the
  // tensors and the ranks. InvalidArgument: CheckData rejects a gradient (not
  // checked with GradientPlace::kBucket), or the options do not fit each other,
  // the tensors or the device; the message says why.
  static absl::StatusOr<std::unique_ptr<Reducer>> Create(
      ProcessGroup& group, std::vector<Tensor> tensors,
      DdpOptions options = {});

  // Waits for the running reduction, and drops reductions that have not
  // started. On a device: waits until all enqueued work is done.
  ~Reducer();
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  absl::Status Begin(GradientSync sync);
  absl::Status MarkReady(int parameter);
  absl::Status MarkUnused(int parameter);
  // Ends the pass. Blocks until pending reductions are done (on a device: until
  // they are enqueued). If the pass has kReduce, each gradient that at least
  // one rank produced in this step becomes the average over all ranks. A rank
  // that did not produce the gradient contributes zeros. Gradients that no rank
  // produced stay unchanged (those in buckets become 0).
  absl::Status Finish();
  // Blocks until the device has done all enqueued work. Returns OK if all
  // averages since the last call of Confirm are correct. Returns an error if
  // the group broke or the device failed; the averages are then undefined.
  // Collective. Call it before averages, or weights computed from them, leave
  // the device. For gradients in host memory, Finish has already returned any
  // error.
  absl::Status Confirm();

  // The address to which the backward pass writes the parameter's gradient.
  // With GradientPlace::kBucket and BucketOrder::kObserved, the address may
  // change once, in the first Finish that reduces.
  void* gradient(int parameter) const;
  // The average of the parameter's gradient, valid after Finish. Its address is
  // gradient(parameter), except with kOwnToBucket. If the hook gives each rank
  // only a part of the average (CommHook::scatters), as for a ShardedOptimizer,
  // the address is null in a group of several ranks.
  TensorData average(int parameter) const;

  const std::vector<GradientBucket>& buckets() const;
  const DdpOptions& options() const;
  Device& device() const;
  int ranks() const;
  ReducerTimes times() const;

 private:
  class Body;
  explicit Reducer(std::unique_ptr<Body> body);

  std::unique_ptr<Body> body_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_REDUCER_H_
