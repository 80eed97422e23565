#ifndef MUSTER_TRAINER_SDK_OPTIM_REPLICATED_OPTIMIZER_H_
#define MUSTER_TRAINER_SDK_OPTIM_REPLICATED_OPTIMIZER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "trainer_sdk/optim/optimizer.h"
#include "trainer_sdk/optim/optimizer_shard.h"

namespace muster {

// An optimizer that keeps the whole state on every rank and does not
// communicate. Ranks that start with equal weights and get equal gradients, as
// with DDP, keep equal weights. A SumOfSquares or Step that fails with one of
// these errors changes nothing:
//   InvalidArgument     a gradient has another number of elements than its
//                       parameter; the step or learning rate was not given; the
//                       device does not support the rule
//   ResourceExhausted   the device does not have enough memory for the state
//   FailedPrecondition  each rank has only a part of the averaged gradients;
//                       only a ShardedOptimizer can use it
class ReplicatedOptimizer : public Optimizer {
 public:
  // `rule` and `gradients` must not be null, and each tensor's value must pass
  // CheckData. The optimizer gets gradients from the function `gradients` and
  // ignores Tensor::gradient. Values and gradients must be in the memory of
  // `device`, which must outlive the optimizer.
  ReplicatedOptimizer(std::shared_ptr<const UpdateRule> rule,
                      std::vector<Tensor> tensors, GradientSource gradients,
                      Device& device = HostDevice());

  // OK, or the error that occurred in the constructor. SumOfSquares, Step and
  // OnStateLoaded then fail with the same error.
  const absl::Status& status() const { return shard_.status(); }

  absl::StatusOr<double> SumOfSquares() override;
  absl::Status Step(const OptimizerStep& step) override;
  std::vector<CheckpointSlice> State() override { return shard_.State(); }
  absl::Status OnStateLoaded() override;

  // The size of the optimizer's state and the master weights in memory, in
  // bytes.
  int64_t bytes() const { return shard_.bytes(); }

 private:
  absl::Status CheckGradients() const;

  const GradientSource gradients_;
  OptimizerShard shard_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_REPLICATED_OPTIMIZER_H_
