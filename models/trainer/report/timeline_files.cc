#include "models/trainer/report/timeline_files.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
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
  // Steps are counted from 1 here, as in the progress lines.
  const int64_t first = timeline.ranks[0].front().step + 1;
  const int64_t last = timeline.ranks[0].back().step + 1;
  return absl::StrCat(first == last
                          ? absl::StrCat("step ", first)
                          : absl::StrCat("steps ", first, " to ", last),
                      " of ", timeline.ranks.size(),
                      timeline.ranks.size() == 1 ? " rank: " : " ranks: ",
                      DescribeOverlap(overlaps));
}

namespace {

absl::Status CannotWrite(const PictureFile& file, int error) {
  return absl::InvalidArgumentError(absl::StrCat("cannot write the ", file.kind,
                                                 " '", file.path,
                                                 "': ", std::strerror(error)));
}

}  // namespace

absl::Status CheckPictureFile(const PictureFile& file) {
  if (file.path.empty()) return absl::OkStatus();
  // Check that the file can be written by opening it for appending, which does
  // not erase an existing picture. At the end of the training, WritePictureFile
  // replaces the picture.
  errno = 0;
  const std::ofstream stream(file.path, std::ios::app);
  return stream ? absl::OkStatus() : CannotWrite(file, errno);
}

absl::Status WritePictureFile(const PictureFile& file,
                              const std::function<void(std::ostream&)>& draw) {
  errno = 0;
  std::ofstream stream(file.path);
  if (stream) draw(stream);
  stream.close();
  return stream ? absl::OkStatus() : CannotWrite(file, errno);
}

}  // namespace muster::models
