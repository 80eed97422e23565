#ifndef MUSTER_TRAINER_SDK_OPTIM_OPTIMIZER_H_
#define MUSTER_TRAINER_SDK_OPTIM_OPTIMIZER_H_

#include <cmath>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"
#include "trainer_sdk/optim/update_rule.h"
#include "trainer_sdk/tensor/tensor.h"

namespace muster {

// A function that returns the current address of a tensor's gradient.
// Optimizers call it in each step, because the address may change between steps
// (see Reducer::average). `data` is null if this rank does not have the whole
// gradient.
using GradientSource = std::function<TensorData(int tensor)>;

// Checks the arguments of an optimizer's step. InvalidArgument: the step number
// or the learning rate is not set.
inline absl::Status CheckStep(const OptimizerStep& step) {
  if (step.step < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "OptimizerStep::step is ", step.step, "; updates count from 1"));
  }
  if (std::isnan(step.learning_rate)) {
    return absl::InvalidArgumentError(
        "OptimizerStep::learning_rate was not given");
  }
  return absl::OkStatus();
}

// Updates weights by their gradients. A trainer calls it once per step, after
// Reducer::Finish. Every rank keeps either the whole optimizer state
// (ReplicatedOptimizer) or a part of it (ShardedOptimizer: ZeRO-1). Not
// thread-safe.
//
// On a device, Step and OnStateLoaded enqueue work and do not wait for it;
// SumOfSquares and State block. If the group breaks before that work is done,
// the weights are undefined: see Reducer::Confirm.
//
//   squares = optimizer->SumOfSquares();       // if gradients are clipped
//   optimizer->Step({step, learning_rate, ClipCoefficient(*squares, clip)});
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Returns the sum of the squares of the gradients of all tensors of this
  // optimizer, before any factor is applied. The sum is NaN or infinite if and
  // only if some gradient is NaN or infinite. The sum is equal on every rank
  // that has these tensors. Collective if the state is sharded. With pipeline
  // parallelism, the caller adds the sums of the stages.
  virtual absl::StatusOr<double> SumOfSquares() = 0;

  // Updates the values of all tensors of this optimizer. The result is
  // bit-identical for any number of ranks that share the state. Collective if
  // the state is sharded. Afterwards the contents of the gradients are
  // undefined.
  virtual absl::Status Step(const OptimizerStep& step) = 0;

  // Returns this rank's slices of the optimizer's state, including master
  // weights ("master/NAME"). The slices are in host memory, at addresses that
  // stay the same. If the state is on a device, this call copies it to the
  // slices. The slices of all ranks together contain each element of each state
  // tensor at least once.
  virtual std::vector<CheckpointSlice> State() = 0;

  // Call this after a checkpoint was read into the memory that State()
  // returned. If a tensor has master weights, recomputes its values by rounding
  // the master weights. Collective if the state is sharded.
  virtual absl::Status OnStateLoaded() = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_OPTIMIZER_H_
