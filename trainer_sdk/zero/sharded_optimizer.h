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

// ZeRO stage 1 (Rajbhandari et al., SC 2020): each rank keeps only its part of
// the optimizer's state and master weights. A rank updates the elements whose
// gradients the Reducer averaged for it (ScatterHook); then the ranks gather
// the values in the buckets' memory, so that only the state is allocated. With
// 16-bit values and AdamW, P elements on N ranks need 12 P / N bytes per rank
// instead of 12 P. The values are bit-identical to those of a
// ReplicatedOptimizer after a Reducer whose reductions are equally exact.
//
// With GradientPlace::kInPlace, the values are gathered where they are if they
// lie in memory as their gradients do: their types may differ, but the
// distances between them must be the same numbers of elements.
class ShardedOptimizer : public Optimizer {
 public:
  // Call it on every rank with the same arguments; it does not communicate.
  // `reducer` must be made with ForSharding of the same tensors in the same
  // order; its device has the values. `group` is the reducer's group, or
  // another of the same ranks in the same order. Both must outlive the
  // optimizer. InvalidArgument: the reducer or its tensors do not fit,
  // CheckData rejects a value, a value does not fit where its gradient is, or
  // the device does not have the rule. ResourceExhausted: not enough device
  // memory.
  static absl::StatusOr<std::unique_ptr<ShardedOptimizer>> Create(
      ProcessGroup& group, const Reducer& reducer,
      std::shared_ptr<const UpdateRule> rule, std::vector<Tensor> tensors);

  // All three are collective on `group` and return its errors.
  absl::StatusOr<double> SumOfSquares() override;
  absl::Status Step(const OptimizerStep& step) override;
  absl::Status OnStateLoaded() override;

  std::vector<CheckpointSlice> State() override { return shard_.State(); }

  // Memory of this rank's state and master weights, in bytes.
  int64_t bytes() const { return shard_.bytes(); }

 private:
  ShardedOptimizer(ProcessGroup& group, const Reducer& reducer,
                   std::shared_ptr<const UpdateRule> rule,
                   std::vector<Tensor> tensors, std::vector<ShardPiece> pieces);

  TensorData GradientOf(const ShardPiece& piece) const;
  // Calls `prepare` for each of this rank's pieces, then gathers the values of
  // all ranks.
  template <typename Prepare>
  absl::Status Gather(Prepare prepare);
  // Starts gathering `count` values at `data` from the ranks' parts.
  using Works = std::vector<std::shared_ptr<Work>>;
  Works StartGather(void* data, int64_t count, DType type);
  DType TypeOfValues(const GradientBucket& bucket) const;
  void TakeFromBucket(const GradientBucket& bucket);
  // By bucket: the address in the values that corresponds to the bucket's
  // first element; null if the values are gathered in the bucket.
  std::vector<void*> FindValues() const;

  ProcessGroup& group_;
  const Reducer& reducer_;
  const std::vector<ShardPiece> pieces_;
  OptimizerShard shard_;
  const std::vector<void*> values_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_ZERO_SHARDED_OPTIMIZER_H_
