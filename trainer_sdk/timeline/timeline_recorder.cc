#include "trainer_sdk/timeline/timeline_recorder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "base/monotonic_clock.h"
#include "trainer_sdk/process_group/clock_lead.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

int64_t Nanoseconds(Instant instant) {
  return instant.time_since_epoch().count();
}

// Whether a span of this kind is a forward or backward pass or a part of one.
// The number of such spans per step is limited.
bool IsOfPass(SpanKind kind) {
  return kind == SpanKind::kForward || kind == SpanKind::kBackward ||
         kind == SpanKind::kPart;
}

}  // namespace

TimelineRecorder::TimelineRecorder(int64_t steps)
    : max_steps_(static_cast<size_t>(std::max<int64_t>(1, steps))) {}

void TimelineRecorder::BeginStep(int64_t step) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Step next;
  if (steps_.size() == max_steps_) {
    // Reuse the memory of the oldest step.
    next = std::move(steps_.front());
    next.spans.clear();
    steps_.pop_front();
  }
  next.step = step;
  next.passes = 0;
  next.left_out = 0;
  steps_.push_back(std::move(next));
}

void TimelineRecorder::Add(SpanKind kind, int64_t number, Instant begin,
                           Instant end) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (steps_.empty()) return;
  Step& step = steps_.back();
  if (IsOfPass(kind) && ++step.passes > kMaxPasses) {
    ++step.left_out;
    return;
  }
  step.spans.push_back(
      {.kind = kind,
       .step = step.step,
       .number = kind == SpanKind::kStep ? step.left_out : number,
       .begin = Nanoseconds(begin),
       .end = Nanoseconds(end)});
}

void TimelineRecorder::OnReduced(const BucketReduction& reduction) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (steps_.empty()) return;
  Step& step = steps_.back();
  step.spans.push_back({.kind = SpanKind::kReduce,
                        .step = step.step,
                        .number = reduction.bucket,
                        .begin = Nanoseconds(reduction.began),
                        .end = Nanoseconds(reduction.ended),
                        .asked = Nanoseconds(reduction.asked),
                        .bytes = reduction.bytes});
}

void TimelineRecorder::OnWaited(Instant begin, Instant end) {
  Add(SpanKind::kWait, 0, begin, end);
}

std::vector<TimelineSpan> TimelineRecorder::spans() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<TimelineSpan> all;
  for (const Step& step : steps_) {
    all.insert(all.end(), step.spans.begin(), step.spans.end());
  }
  return all;
}

RecordedSpan::RecordedSpan(TimelineRecorder* recorder, SpanKind kind,
                           int64_t number)
    : recorder_(recorder), kind_(kind), number_(number) {
  if (recorder_ != nullptr) begin_ = MonotonicNow();
}

RecordedSpan::~RecordedSpan() {
  if (recorder_ == nullptr) return;
  recorder_->Add(kind_, number_, begin_, MonotonicNow());
}

RecordedParts::RecordedParts(TimelineRecorder* recorder) : recorder_(recorder) {
  if (recorder_ != nullptr) begin_ = end_ = MonotonicNow();
}

RecordedParts::~RecordedParts() {
  if (recorder_ == nullptr || part_ < 0) return;
  recorder_->Add(SpanKind::kPart, part_, begin_, end_);
}

void RecordedParts::Made(int64_t part) {
  if (recorder_ == nullptr) return;
  if (part_ >= 0 && part != part_) {
    recorder_->Add(SpanKind::kPart, part_, begin_, end_);
    begin_ = end_;
  }
  part_ = part;
  end_ = MonotonicNow();
}

absl::StatusOr<std::vector<std::vector<TimelineSpan>>> GatherTimeline(
    ProcessGroup& group, std::vector<TimelineSpan> spans) {
  const absl::StatusOr<int64_t> lead = ClockLead(group);
  if (!lead.ok()) return lead.status();
  for (TimelineSpan& span : spans) {
    span.begin -= *lead;
    span.end -= *lead;
    if (span.kind == SpanKind::kReduce) span.asked -= *lead;
  }
  const auto mine = static_cast<int64_t>(spans.size());
  std::vector<int64_t> counts(static_cast<size_t>(group.size()));
  absl::Status status =
      group.Run(AllGather(&mine, counts.data(), 1, DType::kInt64));
  if (!status.ok()) return status;
  std::vector<TimelineSpan> all;
  std::vector<int64_t> words;
  for (const int64_t count : counts) {
    words.push_back(count * kTimelineSpanWords);
  }
  if (group.rank() == 0) {
    all.resize(static_cast<size_t>(
        std::accumulate(counts.begin(), counts.end(), int64_t{0})));
  }
  status = group.Run(
      Gather(spans.data(), all.data(), words, DType::kInt64, /*root=*/0));
  if (!status.ok()) return status;
  std::vector<std::vector<TimelineSpan>> ranks;
  if (group.rank() != 0) return ranks;
  auto next = all.begin();
  for (const int64_t count : counts) {
    ranks.emplace_back(next, next + count);
    next += count;
  }
  return ranks;
}

}  // namespace muster
