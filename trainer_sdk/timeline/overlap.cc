#include "trainer_sdk/timeline/overlap.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_format.h"

namespace muster {
namespace {

struct Interval {
  int64_t begin = 0;
  int64_t end = 0;
};

// Returns the union of the intervals as a list of ascending, disjoint
// intervals.
std::vector<Interval> Merged(std::vector<Interval> intervals) {
  std::sort(
      intervals.begin(), intervals.end(),
      [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  std::vector<Interval> merged;
  for (const Interval& next : intervals) {
    if (!merged.empty() && next.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, next.end);
    } else {
      merged.push_back(next);
    }
  }
  return merged;
}

Duration LengthOf(const std::vector<Interval>& merged) {
  int64_t length = 0;
  for (const Interval& each : merged) length += each.end - each.begin;
  return Duration(length);
}

// The total length of the intersection of two lists of intervals.
Duration CommonLength(const std::vector<Interval>& a,
                      const std::vector<Interval>& b) {
  int64_t length = 0;
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    length += std::max<int64_t>(
        0, std::min(a[i].end, b[j].end) - std::max(a[i].begin, b[j].begin));
    a[i].end < b[j].end ? ++i : ++j;
  }
  return Duration(length);
}

double Share(Duration part, Duration whole) {
  return whole > Duration{} ? ToSeconds(part) / ToSeconds(whole) : 0;
}

double Milliseconds(Duration each, int64_t steps) {
  return 1e3 * ToSeconds(each) / static_cast<double>(steps);
}

}  // namespace

double CommunicationOverlap::HiddenShare() const {
  return Share(hidden, communication);
}

double CommunicationOverlap::ExposedShare() const {
  return Share(exposed, step);
}

CommunicationOverlap OverlapOf(const std::vector<TimelineSpan>& spans) {
  CommunicationOverlap overlap;
  std::vector<Interval> reductions;
  std::vector<Interval> waits;
  for (const TimelineSpan& span : spans) {
    if (span.kind == SpanKind::kStep) {
      ++overlap.steps;
      overlap.step += Duration(span.end - span.begin);
    } else if (span.kind == SpanKind::kReduce) {
      reductions.push_back({span.begin, span.end});
    } else if (span.kind == SpanKind::kWait) {
      waits.push_back({span.begin, span.end});
    }
  }
  reductions = Merged(std::move(reductions));
  waits = Merged(std::move(waits));
  overlap.communication = LengthOf(reductions);
  overlap.hidden = overlap.communication - CommonLength(reductions, waits);
  overlap.exposed = LengthOf(waits);
  return overlap;
}

std::string DescribeOverlap(const std::vector<CommunicationOverlap>& ranks) {
  CommunicationOverlap all;
  size_t worst = 0;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const CommunicationOverlap& one = ranks[rank];
    all.steps += one.steps;
    all.step += one.step;
    all.communication += one.communication;
    all.hidden += one.hidden;
    all.exposed += one.exposed;
    if (one.ExposedShare() > ranks[worst].ExposedShare()) worst = rank;
  }
  if (all.communication == Duration{}) return "no gradients were reduced";
  std::string text = absl::StrFormat(
      "%.2f ms of communication a step, %.1f %% of it hidden behind the "
      "backward pass; exposed: %.2f ms, %.1f %% of the step",
      Milliseconds(all.communication, all.steps), 100 * all.HiddenShare(),
      Milliseconds(all.exposed, all.steps), 100 * all.ExposedShare());
  if (ranks.size() > 1) {
    absl::StrAppendFormat(&text, " (at most %.1f %%, rank %d)",
                          100 * ranks[worst].ExposedShare(),
                          static_cast<int>(worst));
  }
  return text;
}

}  // namespace muster
