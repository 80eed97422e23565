#include "models/trainer/report/describe_timeline.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/timeline/overlap.h"

namespace muster::models {
std::string DescribeTimeline(const Timeline& timeline) {
  std::vector<CommunicationOverlap> overlaps;
  for (const auto& spans : timeline.ranks) {
    overlaps.push_back(OverlapOf(spans));
  }
  if (timeline.ranks.empty() || timeline.ranks[0].empty()) {
    return "no step was taken";
  }
  // Counted from 1, as in progress lines.
  const int64_t first = timeline.ranks[0].front().step + 1;
  const int64_t last = timeline.ranks[0].back().step + 1;
  return absl::StrCat(first == last
                          ? absl::StrCat("step ", first)
                          : absl::StrCat("steps ", first, " to ", last),
                      " of ", timeline.ranks.size(),
                      timeline.ranks.size() == 1 ? " rank: " : " ranks: ",
                      DescribeOverlap(overlaps));
}

}  // namespace muster::models
