#ifndef MUSTER_TRAINER_SDK_OPTIM_REPLICATED_OPTIMIZER_H_
#define MUSTER_TRAINER_SDK_OPTIM_REPLICATED_OPTIMIZER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "trainer_sdk/optim/optimizer.h"
#include "trainer_sdk/optim/optimizer_shard.h"

namespace muster {

// An optimizer that keeps all state on every rank and talks to nobody: where
// all ranks have the same weights and the same gradients, as DDP's have, they
// stay the same. Before anything is changed, SumOfSquares and Step fail with
//   InvalidArgument     a gradient has another number of elements than its
//                       parameter; the step or learning rate was not given
//   FailedPrecondition  the gradients' averages are shared out among the ranks
//                       (ForSharding): this needs a ShardedOptimizer
class ReplicatedOptimizer : public Optimizer {
 public:
  // `rule` and `gradients` are not null; each tensor's value passes CheckData.
  // `gradients`, not Tensor::gradient, tells where gradients are.
  ReplicatedOptimizer(std::shared_ptr<const UpdateRule> rule,
                      std::vector<Tensor> tensors, GradientSource gradients);

  absl::StatusOr<double> SumOfSquares() override;
  absl::Status Step(const OptimizerStep& step) override;
  std::vector<CheckpointSlice> State() override { return shard_.State(); }
  absl::Status OnStateLoaded() override;

  // Of state and master weights.
  int64_t bytes() const { return shard_.bytes(); }

 private:
  absl::Status CheckGradients() const;

  const GradientSource gradients_;
  OptimizerShard shard_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_REPLICATED_OPTIMIZER_H_
