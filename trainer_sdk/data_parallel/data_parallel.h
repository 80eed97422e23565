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
  // Not GradientPlace::kBucket: gradients are where their tensors say.
  DdpOptions ddp = {};
  // Whether each rank keeps all of the optimizer's state, or its part of it
  // (ZeRO-1).
  enum class State { kReplicated, kSharded } state = State::kReplicated;
};

// Data-parallel training of some tensors: a Reducer, an Optimizer that fits it,
// and what of them goes into a checkpoint.
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
// One thread at a time. Errors are those of Reducer and Optimizer.
class DataParallel {
 public:
  // Collective, with the same tensors everywhere: gives all ranks rank 0's
  // values, and averages in a group of its own, a part of `world`.
  // InvalidArgument: CheckTensors, before anything is sent.
  // FailedPrecondition: the ranks' tensors differ, which and where.
  static absl::StatusOr<std::unique_ptr<DataParallel>> Create(
      ProcessGroup& world, const std::vector<Tensor>& tensors,
      std::shared_ptr<const UpdateRule> rule, DataParallelOptions options = {});

  ~DataParallel();
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  // Before each backward pass. kAccumulate: more passes add to the same
  // gradients before they are averaged.
  absl::Status Begin(GradientSync sync = GradientSync::kReduce);
  // Gradient `tensor` (its index) is complete. A mark during the backward pass
  // hides its communication behind the rest of the pass.
  absl::Status MarkReady(int tensor);
  // After the backward pass. Tensors that were not marked count as ready.
  absl::Status Finish();

  // See Optimizer.
  absl::StatusOr<double> SumOfSquares();
  absl::Status Step(const OptimizerStep& step);

  // What a checkpoint of this training has: values and the optimizer's state.
  // The places stay the same. After they were read to, OnStateLoaded.
  std::vector<CheckpointSlice> State();
  absl::Status OnStateLoaded();

  Reducer& reducer() { return *reducer_; }

 private:
  DataParallel(std::vector<Tensor> tensors,
               std::unique_ptr<ProcessGroup> group);

  const std::vector<Tensor> tensors_;
  std::vector<bool> marked_;
  // In the order in which they may not outlive each other.
  const std::unique_ptr<ProcessGroup> group_;
  std::unique_ptr<Reducer> reducer_;
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DATA_PARALLEL_DATA_PARALLEL_H_
