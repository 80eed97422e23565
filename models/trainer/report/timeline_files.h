#ifndef MUSTER_MODELS_TRAINER_REPORT_TIMELINE_FILES_H_
#define MUSTER_MODELS_TRAINER_REPORT_TIMELINE_FILES_H_

#include <functional>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "trainer_sdk/timeline/trace_events.h"

namespace muster::models {

// "steps 1998 to 2000 of 2 ranks: 4.12 ms of communication a step, ...": the
// steps and ranks, and the text of DescribeOverlap.
std::string DescribeTimeline(const Timeline& timeline);

// A picture that a training writes at its end: a timeline or a schedule.
struct PictureFile {
  // the picture's kind: "timeline"
  std::string kind;
  // Path of the picture; empty: not requested.
  std::string path;
};

// Checks that the file can be written. Called before a training, so that its
// picture is not lost. InvalidArgument: no file can be written there; the
// message says why.
absl::Status CheckPictureFile(const PictureFile& file);

// Writes the output of `draw`. InvalidArgument: the file cannot be written; the
// message says why. At the end of a training, report this error as a warning
// only.
absl::Status WritePictureFile(const PictureFile& file,
                              const std::function<void(std::ostream&)>& draw);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_REPORT_TIMELINE_FILES_H_
