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

// An optimizer with ZeRO stage 1 (Rajbhandari et al., SC 2020): each rank keeps
// only its part of the optimizer's state and master weights. A rank updates the
// elements whose averaged gradients it has (ScatterHook). Then the ranks gather
// the new values in the memory of the gradient buckets. So only the state and
// the master weights need additional memory. For P elements with 16-bit values
// and AdamW on N ranks, this is 12 P / N bytes per rank instead of 12 P. If the
// reductions round in the same way, the values are bit-identical to those of a
// ReplicatedOptimizer.
//
// With GradientPlace::kInPlace, the values are gathered directly in their own
// memory, under two conditions. First, the tensors' values have the same order
// and distances in memory, in elements, as their gradients. Second, the values
// are stored in the type Tensor::precision, which may differ from the
// gradients' type.
class ShardedOptimizer : public Optimizer {
 public:
  // Creates the optimizer. Call it on every rank with the same arguments; it
  // does not communicate. `reducer` must be made with ForSharding and the same
  // tensors in the same order; the values are in the memory of its device.
  // `group` is the reducer's group, or another group of the same ranks in the
  // same order. `group` and `reducer` must outlive the optimizer.
  // InvalidArgument: the reducer or its tensors do not fit, CheckData rejects a
  // value, a value does not fit into the memory of its gradient, or the device
  // does not support the rule. ResourceExhausted: not enough device memory.
  static absl::StatusOr<std::unique_ptr<ShardedOptimizer>> Create(
      ProcessGroup& group, const Reducer& reducer,
      std::shared_ptr<const UpdateRule> rule, std::vector<Tensor> tensors);

  // SumOfSquares, Step and OnStateLoaded are collective operations of `group`
  // and return its errors.
  absl::StatusOr<double> SumOfSquares() override;
  absl::Status Step(const OptimizerStep& step) override;
  absl::Status OnStateLoaded() override;

  std::vector<CheckpointSlice> State() override { return shard_.State(); }

  // The size of this rank's state and master weights, in bytes.
  int64_t bytes() const { return shard_.bytes(); }

 private:
  ShardedOptimizer(ProcessGroup& group, const Reducer& reducer,
                   std::shared_ptr<const UpdateRule> rule,
                   std::vector<Tensor> tensors, std::vector<ShardPiece> pieces);

  TensorData GradientOf(const ShardPiece& piece) const;
  // Calls `prepare` with the index of each element of pieces_, the parameter
  // ranges of this rank; `prepare` makes the values of this range ready. Then
  // gathers the values of all ranks.
  template <typename Prepare>
  absl::Status Gather(Prepare prepare);
  // The started operations of one gather; the caller must wait for all of them.
  // StartGather starts to gather the `count` values at `data`, of which each
  // rank has its own part, and returns these operations.
  using Works = std::vector<std::shared_ptr<Work>>;
  Works StartGather(void* data, int64_t count, DType type);
  DType TypeOfValues(const GradientBucket& bucket) const;
  void TakeFromBucket(const GradientBucket& bucket);
  // Returns for each bucket the address at which its values can be gathered
  // directly. Null: the values are gathered in the bucket's memory and then
  // copied to their own memory. The conditions for gathering directly are at
  // the class ShardedOptimizer.
  std::vector<void*> FindValues() const;

  ProcessGroup& group_;
  const Reducer& reducer_;
  const std::vector<ShardPiece> pieces_;
  OptimizerShard shard_;
  const std::vector<void*> values_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_ZERO_SHARDED_OPTIMIZER_H_
