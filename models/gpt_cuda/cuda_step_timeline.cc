#include "models/gpt_cuda/cuda_step_timeline.h"

#include <cstddef>
#include <utility>

#include "base/check.h"
#include "base/monotonic_clock.h"

namespace muster::models::cuda {
namespace {

constexpr Device::Stream kMain = Device::Stream::kCompute;
constexpr Device::Stream kSide = Device::Stream::kCommunication;

}  // namespace

void CudaStepTimeline::BeginStep(int64_t step) {
  step_ = step;
  spans_.clear();
  open_.clear();
  part_ = -1;
  device_.ReadMarks();
  device_.Wait();
  begin_ = MonotonicNow();
  Begin(SpanKind::kStep);
}

void CudaStepTimeline::Begin(SpanKind kind, int64_t number) {
  const int begin = device_.Mark(kMain);
  open_.push_back(spans_.size());
  spans_.push_back(
      {.kind = kind, .step = step_, .number = number, .begin = begin});
  part_begin_ = begin;
}

void CudaStepTimeline::MadeGradientOf(int64_t part) {
  if (part_ >= 0 && part != part_) {
    spans_.push_back({.kind = SpanKind::kPart,
                      .step = step_,
                      .number = part_,
                      .begin = part_begin_,
                      .end = part_end_});
    part_begin_ = part_end_;
  }
  part_ = part;
  part_end_ = device_.Mark(kMain);
}

void CudaStepTimeline::End() {
  MUSTER_CHECK(!open_.empty()) << "a span ends that did not begin";
  TimelineSpan& span = spans_[open_.back()];
  open_.pop_back();
  span.end = device_.Mark(kMain);
  if (span.kind != SpanKind::kBackward || part_ < 0) return;
  spans_.push_back({.kind = SpanKind::kPart,
                    .step = step_,
                    .number = std::exchange(part_, -1),
                    .begin = part_begin_,
                    .end = part_end_});
}

void CudaStepTimeline::OnDevicePoint(DevicePoint point, int bucket,
                                     int64_t bytes) {
  switch (point) {
    case DevicePoint::kAsked:
      reduction_ = {.kind = SpanKind::kReduce,
                    .step = step_,
                    .number = bucket,
                    .asked = device_.Mark(kMain),
                    .bytes = bytes};
      break;
    case DevicePoint::kBegan:
      reduction_.begin = device_.Mark(kSide);
      break;
    case DevicePoint::kEnded:
      reduction_.end = device_.Mark(kSide);
      spans_.push_back(reduction_);
      break;
    case DevicePoint::kWaits:
      Begin(SpanKind::kWait);
      break;
    case DevicePoint::kWaited:
      End();
      break;
  }
}

std::vector<TimelineSpan> CudaStepTimeline::EndStep() {
  while (!open_.empty()) End();
  const std::vector<Duration> times = device_.ReadMarks();
  const auto at = [&](int64_t mark) {
    return (begin_ + times[static_cast<size_t>(mark)])
        .time_since_epoch()
        .count();
  };
  for (TimelineSpan& span : spans_) {
    span.begin = at(span.begin);
    span.end = at(span.end);
    if (span.kind == SpanKind::kReduce) span.asked = at(span.asked);
  }
  return std::move(spans_);
}

}  // namespace muster::models::cuda
