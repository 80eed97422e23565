#ifndef MUSTER_TRAINER_SDK_DATA_PARALLEL_DATA_PARALLEL_H_
#define MUSTER_TRAINER_SDK_DATA_PARALLEL_DATA_PARALLEL_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"
#include "trainer_sdk/ddp/reducer.h"
#include "trainer_sdk/optim/optimizer.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/tensor/tensor.h"

namespace muster {

struct DataParallelOptions {
  // Options of gradient averaging. GradientPlace::kBucket is not allowed: the
  // gradients stay in the memory of their tensors.
  DdpOptions ddp = {};
  // Whether each rank keeps the whole optimizer state (kReplicated) or only its
  // part (kSharded, ZeRO-1).
  enum class State { kReplicated, kSharded } state = State::kReplicated;
};

// Data-parallel training of a list of tensors: a Reducer, a matching Optimizer,
// and their state for checkpoints.
//
//   auto model = DataParallel::Create(
//       *world, {{"w", {60, 100}, w, w_gradient}}, AdamWRule({}));
//   in each step:
//     (*model)->Begin();
//     ... the backward pass; MarkReady(i) once gradient i is complete ...
//     (*model)->Finish();  // gradients are the averages over all ranks
//     (*model)->Step({.step = step, .learning_rate = 1e-3});
//
// With DdpOptions::device, values and gradients are in the memory of that
// device; Finish and Step enqueue work and do not wait for it.
//
// Not thread-safe: one call at a time. Errors are those of Reducer and
// Optimizer.
class DataParallel {
 public:
  // Prepares the training of `tensors`. Collective, with the same tensors on
  // every rank. Blocks. Copies the values of rank 0 to every rank. Gradients
  // are averaged in a new group that is split from `world`. InvalidArgument:
  // CheckTensors rejects the tensors (nothing has been sent), or the rule or an
  // option is not valid. FailedPrecondition: the ranks' tensors differ; the
  // message names the tensor and the ranks.
  static absl::StatusOr<std::unique_ptr<DataParallel>> Create(
      ProcessGroup& world, const std::vector<Tensor>& tensors,
      std::shared_ptr<const UpdateRule> rule, DataParallelOptions options = {});

  ~DataParallel();
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  // Begins a backward pass; call it before every pass. With kAccumulate, the
  // gradients of this pass are not averaged yet: later passes add to them.
  absl::Status Begin(GradientSync sync = GradientSync::kReduce);
  // Reports that the gradient of the tensor with index `tensor` is complete. If
  // called during the backward pass, the gradient's communication overlaps with
  // the rest of the pass.
  absl::Status MarkReady(int tensor);
  // Ends the backward pass. Tensors that were not marked count as ready. Blocks
  // until all gradients are averaged (on a device: until the work is enqueued).
  absl::Status Finish();

  // SumOfSquares returns the sum of the squares of all gradients, for a caller
  // that clips gradients. Step updates the values. See the methods of the same
  // names in Optimizer.
  absl::StatusOr<double> SumOfSquares();
  absl::Status Step(const OptimizerStep& step);

  // Returns the state to be checkpointed: the values and the optimizer's state.
  // The slices are in host memory, at addresses that never change. If the
  // tensors are on a device, each call copies the state to these slices, and
  // the caller must call reducer().Confirm() before saving them. Call
  // OnStateLoaded after a checkpoint was read into the slices.
  std::vector<CheckpointSlice> State();
  absl::Status OnStateLoaded();

  Reducer& reducer() { return *reducer_; }

 private:
  DataParallel(std::vector<Tensor> tensors,
               std::unique_ptr<ProcessGroup> group);

  const std::vector<Tensor> tensors_;
  std::vector<bool> marked_;
  // Copies in host memory of values that are on a device. Empty before the
  // first call of State, and if the values are in host memory themselves.
  std::vector<std::vector<char>> host_values_;
  // Do not reorder these members: each member uses the members declared before
  // it, and must therefore be destroyed first.
  const std::unique_ptr<ProcessGroup> group_;
  std::unique_ptr<Reducer> reducer_;
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DATA_PARALLEL_DATA_PARALLEL_H_
