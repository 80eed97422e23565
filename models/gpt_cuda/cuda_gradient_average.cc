#include "models/gpt_cuda/cuda_gradient_average.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster::cuda {

CudaGradientAverage::CudaGradientAverage(Device& device, ProcessGroup& group,
                                         float* gradients,
                                         const std::vector<int64_t>& offsets,
                                         int64_t total, const Limits& limits,
                                         Averages averages)
    : device_(device),
      group_(group),
      gradients_(gradients),
      averages_(averages),
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
  // Every call of a broken group fails; the first error is kept.
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
  status_ = Start(bucket);
  if (timeline_ == nullptr) return;
  noted.ended = device_.Mark(Device::StreamName::kSide);
  timeline_->Add(noted);
}

absl::Status CudaGradientAverage::Start(const ContiguousBucket& bucket) {
  float* const at = gradients_ + bucket.begin;
  if (averages_ == Averages::kAll) {
    return Run(AllReduce(at, at, bucket.end - bucket.begin, DType::kFloat32,
                         ReduceOp::kAvg));
  }
  const BucketShares shares = SharesOf(bucket, group_.size());
  // In place, as below.
  absl::Status status =
      Run(ReduceScatter(at, at + shares.part * group_.rank(), shares.part,
                        DType::kFloat32, ReduceOp::kAvg));
  if (!status.ok() || shares.rest.count() == 0) return status;
  float* const rest = gradients_ + shares.rest.begin;
  return Run(muster::Reduce(rest, rest, shares.rest.count(), DType::kFloat32,
                            group_.size() - 1, ReduceOp::kAvg));
}

absl::Status CudaGradientAverage::Run(Operation operation) {
  operation.stream = device_.side_stream();
  return group_.Run(operation);
}

std::vector<ElementRange> CudaGradientAverage::averaged() const {
  std::vector<ElementRange> ranges;
  for (const ContiguousBucket& bucket : buckets()) {
    const ElementRange range =
        averages_ == Averages::kAll
            ? ElementRange{bucket.begin, bucket.end}
            : ShareOf(bucket, group_.rank(), group_.size());
    if (range.count() > 0) ranges.push_back(range);
  }
  return ranges;
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

absl::Status CudaGradientAverage::Confirm() {
  // An empty operation only reports whether the group is intact.
  return Run(
      AllReduce(gradients_, gradients_, 0, DType::kFloat32, ReduceOp::kAvg));
}

}  // namespace muster::cuda
