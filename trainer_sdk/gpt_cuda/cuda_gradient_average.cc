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
    Reduce(i);
  }
}

void CudaGradientAverage::Reduce(int index) {
  // A broken group fails each call; the first says why.
  if (!status_.ok()) return;
  const ContiguousBucket& bucket =
      tracker_.buckets()[static_cast<size_t>(index)];
  CudaStepTimeline::Reduction noted{
      .bucket = index,
      .bytes =
          (bucket.end - bucket.begin) * static_cast<int64_t>(sizeof(float))};
  if (timeline_ != nullptr) {
    noted.asked = device_.Mark(Device::StreamName::kMain);
  }
  device_.SideWaitsForMain();
  if (timeline_ != nullptr) {
    noted.began = device_.Mark(Device::StreamName::kSide);
  }
  float* const at = gradients_ + bucket.begin;
  Operation operation = AllReduce(at, at, bucket.end - bucket.begin,
                                  DType::kFloat32, ReduceOp::kAvg);
  operation.stream = device_.side_stream();
  status_ = group_.Run(operation);
  if (timeline_ == nullptr) return;
  noted.ended = device_.Mark(Device::StreamName::kSide);
  timeline_->Add(noted);
}

absl::Status CudaGradientAverage::Finish() {
  if (timeline_ != nullptr) timeline_->Begin(SpanKind::kWait);
  device_.MainWaitsForSide();
  if (timeline_ != nullptr) timeline_->End();
  if (!status_.ok()) return status_;
  const size_t count = tracker_.buckets().size();
  if (static_cast<size_t>(tracker_.full()) == count) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("of ", count, " buckets of gradients, ", tracker_.full(),
                   " were full at the backward pass's end"));
}

}  // namespace muster::cuda
