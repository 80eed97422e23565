#include "trainer_sdk/ddp/gradient_bucket.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster {

absl::StatusOr<std::vector<GradientBucket>> MakeBuckets(
    Device& device, ProcessGroup& group, const std::vector<Tensor>& parameters,
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
    bucket.device = &device;
    device.Zero(Device::Stream::kCompute, bucket.data,
                bucket.count * SizeOf(bucket.dtype));
    buckets.push_back(std::move(bucket));
  }
  return buckets;
}

absl::StatusOr<std::vector<GradientBucket>> BucketsInPlace(
    Device& device, const std::vector<Tensor>& parameters,
    const std::vector<std::vector<int>>& assignment) {
  const auto address = [&](int parameter) {
    return reinterpret_cast<intptr_t>(parameters[parameter].gradient.data);
  };
  std::vector<GradientBucket> buckets;
  // The memory that earlier buckets occupy. Key: address of a bucket's first
  // byte; value: address after its last byte.
  std::map<intptr_t, intptr_t> taken;
  for (const std::vector<int>& members : assignment) {
    GradientBucket bucket;
    bucket.index = static_cast<int>(buckets.size());
    bucket.dtype = parameters[members.front()].gradient.dtype;
    bucket.device = &device;
    const int64_t size = SizeOf(bucket.dtype);
    intptr_t begin = std::numeric_limits<intptr_t>::max();
    intptr_t end = 0;
    for (const int parameter : members) {
      const int64_t count = parameters[parameter].count();
      if (count == 0) continue;
      begin = std::min(begin, address(parameter));
      end = std::max(end, address(parameter) + count * size);
    }
    begin = std::min(begin, end);
    for (const int parameter : members) {
      const Tensor& tensor = parameters[parameter];
      const intptr_t offset =
          tensor.count() == 0 ? 0 : address(parameter) - begin;
      if (offset % size != 0) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the gradient of parameter '", tensor.name, "' is ", offset,
            " bytes after another of its bucket, no multiple of ", size));
      }
      bucket.parts.push_back(
          {parameter, offset / size, tensor.count(), tensor.rows()});
    }
    bucket.data = reinterpret_cast<void*>(begin);
    bucket.count = (end - begin) / size;
    const auto after = taken.lower_bound(begin);
    if (bucket.count > 0 &&
        ((after != taken.end() && after->first < end) ||
         (after != taken.begin() && std::prev(after)->second > begin))) {
      return absl::InvalidArgumentError(absl::StrCat(
          "bucket ", bucket.index, ", of parameter '",
          parameters[members.front()].name,
          "', contains gradients of other buckets: with "
          "GradientPlace::kInPlace gradients lie in memory in the order of "
          "their tensors, those of each type together"));
    }
    if (bucket.count > 0) taken.emplace(begin, end);
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
