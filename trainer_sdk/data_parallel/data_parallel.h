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
  // Options of gradient averaging. GradientPlace::kBucket is not allowed,
  // because gradients lie where their tensors say.
  DdpOptions ddp = {};
  // Whether each rank keeps the whole optimizer state or only its part
  // (ZeRO-1).
  enum class State { kReplicated, kSharded } state = State::kReplicated;
};

// Data-parallel training of a list of tensors: a Reducer, a matching Optimizer,
// and their state for checkpoints.
//
//   auto model = DataParallel::Create(*world, {{"w", {60, 100}, w,
//   w_gradient}},
//                                     AdamWRule({}));
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
  // Collective, with the same tensors on every rank. Blocks. Gives every rank
  // the values of rank 0, and averages gradients in a group of its own, split
  // from `world`. InvalidArgument: CheckTensors fails; nothing has been sent.
  // FailedPrecondition: the ranks' tensors differ; names the tensor and the
  // ranks.
  static absl::StatusOr<std::unique_ptr<DataParallel>> Create(
      ProcessGroup& world, const std::vector<Tensor>& tensors,
      std::shared_ptr<const UpdateRule> rule, DataParallelOptions options = {});

  ~DataParallel();
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  // Call it before each backward pass. kAccumulate: later passes add to the
  // same gradients before they are averaged.
  absl::Status Begin(GradientSync sync = GradientSync::kReduce);
  // Gradient `tensor` (an index) is complete. If it is called during the
  // backward pass, the gradient's communication overlaps with the rest of the
  // pass.
  absl::Status MarkReady(int tensor);
  // Call it after the backward pass. Tensors that were not marked count as
  // ready. Blocks until all gradients are averaged.
  absl::Status Finish();

  // See Optimizer.
  absl::StatusOr<double> SumOfSquares();
  absl::Status Step(const OptimizerStep& step);

  // The checkpointed state: values and the optimizer's state. The memory of the
  // slices is the host's and stays the same over the life of this object; on a
  // device it is a copy of this moment: call reducer().Confirm() before it is
  // saved. Call OnStateLoaded after a checkpoint was read into it.
  std::vector<CheckpointSlice> State();
  absl::Status OnStateLoaded();

  Reducer& reducer() { return *reducer_; }

 private:
  DataParallel(std::vector<Tensor> tensors,
               std::unique_ptr<ProcessGroup> group);

  const std::vector<Tensor> tensors_;
  std::vector<bool> marked_;
  // Copies of the values in host memory; empty on the host and before State.
  std::vector<std::vector<char>> host_values_;
  // Each member uses those before it and is destroyed before them.
  const std::unique_ptr<ProcessGroup> group_;
  std::unique_ptr<Reducer> reducer_;
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DATA_PARALLEL_DATA_PARALLEL_H_
