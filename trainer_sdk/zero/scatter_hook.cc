#include "trainer_sdk/zero/scatter_hook.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/zero/shard_partition.h"

namespace muster {

absl::Status ScatterHook::Reduce(GradientBucket& bucket, ProcessGroup& group) {
  const std::vector<int64_t> counts = ShardCounts(bucket.count, group.size());
  const int64_t begin = ShardBegin(bucket.count, group.rank(), group.size());
  // In place.
  void* const own =
      static_cast<char*>(bucket.data) + begin * SizeOf(bucket.dtype);
  return group.Run(
      ReduceScatter(bucket.data, own, counts, bucket.dtype, ReduceOp::kAvg));
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
