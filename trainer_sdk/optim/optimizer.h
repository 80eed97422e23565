#ifndef MUSTER_TRAINER_SDK_OPTIM_OPTIMIZER_H_
#define MUSTER_TRAINER_SDK_OPTIM_OPTIMIZER_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"
#include "trainer_sdk/optim/update_rule.h"
#include "trainer_sdk/tensor/tensor.h"

namespace muster {

// Where a tensor's gradient is now; asked anew in each step, because places
// change (Reducer::average). `data` is null where this rank has not all of it.
using GradientSource = std::function<TensorData(int tensor)>;

// InvalidArgument: the step or the learning rate was not given.
absl::Status CheckStep(const OptimizerStep& step);

// Changes weights by their gradients: what a trainer calls once in each step,
// after Reducer::Finish, whether every rank keeps all of the optimizer's state
// (ReplicatedOptimizer) or a part of it (ShardedOptimizer: ZeRO-1). Not
// thread-safe.
//
//   squares = optimizer->SumOfSquares();       // if gradients are clipped
//   optimizer->Step({step, learning_rate, ClipCoefficient(*squares, clip)});
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Of all gradients of these tensors, before any factor; not a number or
  // infinite exactly if a gradient is so. The same on every rank that holds
  // these tensors. Collective if state is sharded. Stages of a pipeline add
  // theirs.
  virtual absl::StatusOr<double> SumOfSquares() = 0;

  // Changes all values, bit for bit in the same way however many ranks share
  // the state. Collective if state is sharded. Gradients are void afterwards.
  virtual absl::Status Step(const OptimizerStep& step) = 0;

  // This rank's part of the optimizer's state, master weights ("master/NAME")
  // included, as it is now: the places stay the same. All ranks' slices
  // together have each element of each name at least once.
  virtual std::vector<CheckpointSlice> State() = 0;

  // After the places that State() told were written from outside: makes the
  // values of tensors with master weights those again, rounded. Collective
  // if state is sharded.
  virtual absl::Status OnStateLoaded() = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_OPTIMIZER_H_
