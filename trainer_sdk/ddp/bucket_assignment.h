#ifndef MUSTER_TRAINER_SDK_DDP_BUCKET_ASSIGNMENT_H_
#define MUSTER_TRAINER_SDK_DDP_BUCKET_ASSIGNMENT_H_

#include <cstdint>
#include <vector>

#include "trainer_sdk/tensor/tensor.h"

namespace muster {

// The sizes in bytes at which a bucket is full. The first bucket is small, so
// that communication starts early in the backward pass. The defaults are
// PyTorch's.
struct BucketLimits {
  int64_t first_bytes = int64_t{1} << 20;
  int64_t bytes = int64_t{25} << 20;
};

// The order in which parameters are put into buckets.
enum class BucketOrder {
  // In the first reduced step, parameters are taken in the reverse order of the
  // model's parameters; in later steps, in the order in which rank 0's
  // gradients became ready in that first step. With ParameterUse::kMayVary,
  // every step uses the reverse order.
  kObserved,
  // Every step takes the parameters in the reverse order of the model's
  // parameters, so that buckets never change.
  kReverse,
};

// Groups parameters into buckets. A bucket is reduced by one operation, so all
// its gradients have one type. Parameters are taken in `order`. A bucket is
// full as soon as its size reaches its limit (Li et al., VLDB 2020). Full
// buckets are returned first, in the order in which they become full; then the
// partly filled buckets, by the position of their first parameter in `order`.
// The result is the same on all ranks with the same parameters and order.
// `order` must contain each parameter once. Pure.
std::vector<std::vector<int>> AssignBuckets(
    const std::vector<Tensor>& parameters, const std::vector<int>& order,
    const BucketLimits& limits);

// The indices of the parameters from last to first. A backward pass produces
// gradients roughly in this order.
std::vector<int> ReverseOrder(const std::vector<Tensor>& parameters);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_BUCKET_ASSIGNMENT_H_
