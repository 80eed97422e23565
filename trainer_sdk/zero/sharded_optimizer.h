#ifndef MUSTER_TRAINER_SDK_ZERO_SHARDED_OPTIMIZER_H_
#define MUSTER_TRAINER_SDK_ZERO_SHARDED_OPTIMIZER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"
#include "trainer_sdk/ddp/reducer.h"
#include "trainer_sdk/optim/optimizer.h"
#include "trainer_sdk/optim/optimizer_shard.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/zero/shard_partition.h"

namespace muster {

// ZeRO's first stage (Rajbhandari et al., SC 2020): of the optimizer's state
// and the master weights each rank keeps its part only. A rank updates the
// elements whose gradients the Reducer has averaged for it (ScatterHook), and
// the ranks gather each other's values in the buckets' memory, so that nothing
// is allocated but state: with 16-bit values, of P elements on N ranks, 12 P /
// N bytes in place of AdamW's 12 P. The values are bit for bit those of a
// ReplicatedOptimizer behind a Reducer whose reductions are as exact.
class ShardedOptimizer : public Optimizer {
 public:
  // Every rank alike; does not communicate. `reducer` is one made with
  // ForSharding of the same tensors in the same order, `group` the
  // reducer's own, or another of the same ranks in the same order; both must
  // outlive it. InvalidArgument: the reducer is another, or the tensors are;
  // a value that CheckData refuses, or that does not fit where its gradient is.
  static absl::StatusOr<std::unique_ptr<ShardedOptimizer>> Create(
      ProcessGroup& group, const Reducer& reducer,
      std::shared_ptr<const UpdateRule> rule, std::vector<Tensor> tensors);

  // Collectives, all three, on `group`; its errors.
  absl::StatusOr<double> SumOfSquares() override;
  absl::Status Step(const OptimizerStep& step) override;
  absl::Status OnStateLoaded() override;

  std::vector<CheckpointSlice> State() override { return shard_.State(); }

  // Of this rank's state and master weights.
  int64_t bytes() const { return shard_.bytes(); }

 private:
  ShardedOptimizer(ProcessGroup& group, const Reducer& reducer,
                   std::shared_ptr<const UpdateRule> rule,
                   std::vector<Tensor> tensors, std::vector<ShardPiece> pieces);

  TensorData GradientOf(const ShardPiece& piece) const;
  // Gathers all ranks' values, after `prepare` has seen each of this rank's
  // pieces.
  template <typename Prepare>
  absl::Status Gather(Prepare prepare);
  DType TypeOfValues(const GradientBucket& bucket) const;
  void TakeFromBucket(const GradientBucket& bucket);

  ProcessGroup& group_;
  const Reducer& reducer_;
  const std::vector<ShardPiece> pieces_;
  OptimizerShard shard_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_ZERO_SHARDED_OPTIMIZER_H_
