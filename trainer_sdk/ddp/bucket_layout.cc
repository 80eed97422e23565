#include "trainer_sdk/ddp/bucket_layout.h"

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

namespace muster {

absl::StatusOr<std::vector<GradientBucket>> MakeBuckets(
    ProcessGroup& group, const std::vector<Tensor>& parameters,
    const std::vector<std::vector<int>>& assignment) {
  std::vector<GradientBucket> buckets;
  for (const std::vector<int>& members : assignment) {
    GradientBucket bucket;
    bucket.index = static_cast<int>(buckets.size());
    bucket.dtype = parameters[members.front()].gradient.dtype;
    for (const int parameter : members) {
      bucket.parts.push_back({parameter, bucket.count,
                              parameters[parameter].count(),
                              parameters[parameter].rows()});
      bucket.count += parameters[parameter].count();
    }
    absl::StatusOr<std::unique_ptr<TransportMemory>> memory =
        group.Allocate(bucket.count * SizeOf(bucket.dtype));
    if (!memory.ok()) return memory.status();
    bucket.memory = *std::move(memory);
    bucket.data = bucket.memory->data();
    if (bucket.count > 0) {
      std::memset(bucket.data, 0,
                  static_cast<size_t>(bucket.count * SizeOf(bucket.dtype)));
    }
    buckets.push_back(std::move(bucket));
  }
  return buckets;
}

std::vector<void*> PlacesIn(const std::vector<GradientBucket>& buckets,
                            size_t parameters) {
  std::vector<void*> places(parameters);
  for (const GradientBucket& bucket : buckets) {
    for (const GradientBucket::Part& part : bucket.parts) {
      places[part.parameter] = bucket.at(part);
    }
  }
  return places;
}

}  // namespace muster
