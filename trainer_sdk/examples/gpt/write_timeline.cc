#include "trainer_sdk/examples/gpt/write_timeline.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/timeline/overlap.h"

namespace muster {
namespace {

absl::Status CannotWrite(const std::string& path, int error) {
  return absl::InvalidArgumentError(absl::StrCat(
      "cannot write the timeline '", path, "': ", std::strerror(error)));
}

}  // namespace

absl::Status CheckTimelineFile(const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  // What is there stays until there is something new.
  errno = 0;
  const std::ofstream file(path, std::ios::app);
  return file ? absl::OkStatus() : CannotWrite(path, errno);
}

absl::Status WriteTimeline(const Timeline& timeline, const std::string& path) {
  errno = 0;
  std::ofstream file(path);
  WriteTraceEvents(timeline, file);
  file.close();
  return file ? absl::OkStatus() : CannotWrite(path, errno);
}

std::string DescribeTimeline(const Timeline& timeline) {
  std::vector<CommunicationOverlap> overlaps;
  for (const auto& spans : timeline.ranks) {
    overlaps.push_back(OverlapOf(spans));
  }
  if (timeline.ranks.empty() || timeline.ranks[0].empty()) {
    return "no step was taken";
  }
  // As progress lines count them.
  const int64_t first = timeline.ranks[0].front().step + 1;
  const int64_t last = timeline.ranks[0].back().step + 1;
  return absl::StrCat(first == last
                          ? absl::StrCat("step ", first)
                          : absl::StrCat("steps ", first, " to ", last),
                      " of ", timeline.ranks.size(),
                      timeline.ranks.size() == 1 ? " rank: " : " ranks: ",
                      DescribeOverlap(overlaps));
}

}  // namespace muster
