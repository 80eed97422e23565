#ifndef MUSTER_TRAINER_SDK_DDP_BUCKET_LAYOUT_H_
#define MUSTER_TRAINER_SDK_DDP_BUCKET_LAYOUT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "trainer_sdk/ddp/gradient_bucket.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/tensor/tensor.h"

namespace muster {

// Allocates the buckets of `assignment` by `group`, filled with zeros.
// Collective.
absl::StatusOr<std::vector<GradientBucket>> MakeBuckets(
    Device& device, ProcessGroup& group, const std::vector<Tensor>& parameters,
    const std::vector<std::vector<int>>& assignment);

// Makes the buckets of `assignment` out of the memory of the gradients, each
// from its first gradient in memory to its last. InvalidArgument: a bucket
// would contain gradients of another, or they are not aligned to each other.
absl::StatusOr<std::vector<GradientBucket>> BucketsInPlace(
    Device& device, const std::vector<Tensor>& parameters,
    const std::vector<std::vector<int>>& assignment);

// The address of each parameter's gradient in `buckets`, by parameter.
std::vector<void*> PlacesIn(const std::vector<GradientBucket>& buckets,
                            size_t parameters);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_BUCKET_LAYOUT_H_
