#include "trainer_sdk/timeline/gather_timeline.h"

#include <cstddef>
#include <cstdint>
#include <numeric>

#include "trainer_sdk/process_group/clock_lead.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {

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
