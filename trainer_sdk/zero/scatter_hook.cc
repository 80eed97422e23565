#include "trainer_sdk/zero/scatter_hook.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/zero/shard_partition.h"

namespace muster {

absl::Status ScatterHook::Reduce(GradientBucket& bucket, ProcessGroup& group) {
  const int ranks = group.size();
  const ShardForm form = ShardFormOf(bucket.device);
  const std::vector<int64_t> counts = ShardCounts(bucket.count, ranks, form);
  // ReduceScatter works in place: its output is this rank's part of the bucket.
  void* const own =
      bucket.at(ShardBegin(bucket.count, group.rank(), ranks, form));
  if (form == ShardForm::kEven) {
    return bucket.Run(
        ReduceScatter(bucket.data, own, counts, bucket.dtype, ReduceOp::kAvg),
        group);
  }
  absl::Status status = bucket.Run(
      ReduceScatter(bucket.data, own, counts[0], bucket.dtype, ReduceOp::kAvg),
      group);
  const int64_t rest = bucket.count - counts[0] * ranks;
  // ReduceScatter has averaged a part of equal length for each rank. The last
  // `rest` elements of the bucket are averaged below, for the last rank. If
  // `rest` is 0 or the group has one rank, nothing is left to average.
  if (!status.ok() || rest == 0 || ranks == 1) return status;
  void* const at = bucket.at(bucket.count - rest);
  return bucket.Run(
      muster::Reduce(at, at, rest, bucket.dtype, ranks - 1, ReduceOp::kAvg),
      group);
}

DdpOptions ForSharding(DdpOptions options) {
  if (options.place == GradientPlace::kOwn) {
    options.place = GradientPlace::kOwnToBucket;
  }
  options.order = BucketOrder::kReverse;
  if (options.hook == nullptr) options.hook = std::make_shared<ScatterHook>();
  return options;
}

}  // namespace muster
