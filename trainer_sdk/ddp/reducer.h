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
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/tensor/tensor.h"

namespace muster {

// Where gradients lie.
enum class GradientPlace {
  // Where Tensor::gradient says; they are copied to their bucket and
  // back.
  kOwn,
  // In the buckets themselves (PyTorch's gradient_as_bucket_view), which the
  // transport can reach without copies; Reducer::gradient says where.
  kBucket,
  // Where Tensor::gradient says; they are copied to their bucket, where
  // their average stays: Reducer::average says where.
  kOwnToBucket,
};

struct DdpOptions {
  BucketLimits limits = {};
  ParameterUse use = ParameterUse::kAll;
  GradientPlace place = GradientPlace::kOwn;
  BucketOrder order = BucketOrder::kObserved;
  // bfloat16 or float16: float32 gradients are rounded to it on their way to
  // the buckets, which are of this type. Not for GradientPlace::kBucket, where
  // gradients are of the type they come in.
  std::optional<DType> narrow_to = {};
  // Null: AllReduceHook.
  std::shared_ptr<CommHook> hook = {};
  // Null: nobody is told when buckets are reduced, and no clock is read for it.
  std::shared_ptr<ReducerObserver> observer = {};
};

// Where the time went, over all steps.
struct ReducerTimes {
  // The reducer's thread copied and reduced.
  Duration communication{};
  // Of it, what Finish waited for: not hidden behind the backward pass.
  Duration exposed{};
  int64_t steps = 0;
};

// Averages the gradients of all ranks while the backward pass makes them:
// distributed data parallel (Li et al., VLDB 2020). Knows no framework: it is
// told when a backward pass begins, when each parameter's gradient is there,
// and when the pass is over.
//
//   reducer->Begin(GradientSync::kReduce);
//   ... for each parameter, as its gradient comes: reducer->MarkReady(i) ...
//   reducer->Finish();     // all gradients are the average over all ranks
//
// Gradients are put into buckets, at first in reverse order of the parameters,
// after the first step in the order in which rank 0 had them ready. A full
// bucket is reduced on a thread of the reducer's own, in the same order on
// every rank. A gradient may not be touched between its MarkReady and Finish.
//
// A group of one rank reduces nothing, unless there is a hook or gradients go
// to buckets.
//
// Begin, MarkReady, MarkUnused and Finish: one at a time, from any thread. An
// error of communication breaks the reducer, and each call fails with it from
// then on. Errors of use (backward_tracker.h) name parameters.
class Reducer {
 public:
  // Collective, with the same tensors and options everywhere, of which the
  // gradients are averaged; `group` must
  // outlive it, and is the reducer's alone from Begin to Finish.
  // FailedPrecondition: the ranks' tensors differ, which and where.
  // InvalidArgument: a gradient that CheckData refuses, unless gradients are
  // in the buckets; a type that gradients cannot be narrowed to.
  static absl::StatusOr<std::unique_ptr<Reducer>> Create(
      ProcessGroup& group, std::vector<Tensor> tensors,
      DdpOptions options = {});

  // Waits for what is under way.
  ~Reducer();
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  absl::Status Begin(GradientSync sync);
  absl::Status MarkReady(int parameter);
  absl::Status MarkUnused(int parameter);
  // After a pass with kReduce: every gradient that any rank has used in this
  // step is the average, those that a rank did not use counting as 0 there.
  // Gradients that no rank has used stay as they are (in buckets: are 0).
  absl::Status Finish();

  // Where the backward pass puts parameter's gradient. With
  // GradientPlace::kBucket it is another place after the first Finish that
  // reduced, unless the order is BucketOrder::kReverse.
  void* gradient(int parameter) const;
  // Where its average is after Finish: the same but with kOwnToBucket. Null
  // where this rank has the average of a part of it only (ForSharding).
  TensorData average(int parameter) const;

  const std::vector<GradientBucket>& buckets() const;
  const DdpOptions& options() const;
  // Of the group.
  int ranks() const;
  ReducerTimes times() const;

 private:
  class Body;
  explicit Reducer(std::unique_ptr<Body> body);

  std::unique_ptr<Body> body_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_REDUCER_H_
