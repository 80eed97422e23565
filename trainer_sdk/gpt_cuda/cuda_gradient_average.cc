#include "trainer_sdk/gpt_cuda/cuda_gradient_average.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster::cuda {

CudaGradientAverage::CudaGradientAverage(Device& device, ProcessGroup& group,
                                         float* gradients,
                                         const std::vector<int64_t>& offsets,
                                         int64_t total, const Limits& limits)
    : device_(device),
      group_(group),
      gradients_(gradients),
      tracker_(BucketsFromTheEnd(
          offsets, total, limits.first / static_cast<int64_t>(sizeof(float)),
          limits.others / static_cast<int64_t>(sizeof(float)))) {}

void CudaGradientAverage::Begin() {
  tracker_.Begin();
  status_ = absl::OkStatus();
}

void CudaGradientAverage::MarkReady(int tensor) {
  const int more = tracker_.MarkReady(tensor);
  for (int i = tracker_.full() - more; i < tracker_.full(); ++i) {
    Reduce(tracker_.buckets()[static_cast<size_t>(i)]);
  }
}

void CudaGradientAverage::Reduce(const ContiguousBucket& bucket) {
  // A broken group fails each call; the first says why.
  if (!status_.ok()) return;
  device_.SideWaitsForMain();
  float* const at = gradients_ + bucket.begin;
  Operation operation = AllReduce(at, at, bucket.end - bucket.begin,
                                  DType::kFloat32, ReduceOp::kAvg);
  operation.stream = device_.side_stream();
  status_ = group_.Run(operation);
}

absl::Status CudaGradientAverage::Finish() {
  device_.MainWaitsForSide();
  if (!status_.ok()) return status_;
  const size_t count = tracker_.buckets().size();
  if (static_cast<size_t>(tracker_.full()) == count) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("of ", count, " buckets of gradients, ", tracker_.full(),
                   " were full at the backward pass's end"));
}

}  // namespace muster::cuda
