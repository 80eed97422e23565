#ifndef MUSTER_MODELS_TRAINER_REPORT_TIMELINE_FILES_H_
#define MUSTER_MODELS_TRAINER_REPORT_TIMELINE_FILES_H_

#include <functional>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "trainer_sdk/timeline/trace_events.h"

namespace muster::models {

// Describes a timeline: its steps, its ranks and the communication in a step
// (DescribeOverlap). Example: "steps 1998 to 2000 of 2 ranks: 4.12 ms of
// communication a step, ...".
std::string DescribeTimeline(const Timeline& timeline);

// A picture that a training writes at its end: a timeline or a schedule.
struct PictureFile {
  // The kind of picture, for messages, such as "timeline".
  std::string kind;
  // Path of the picture's file; empty: no picture is requested.
  std::string path;
};

// Checks that the picture can be written. Called before a training, so that the
// picture is not lost at its end. InvalidArgument: the file cannot be written;
// the message gives the reason.
absl::Status CheckPictureFile(const PictureFile& file);

// Writes the output of `draw` to the file. InvalidArgument: the file cannot be
// written; the message gives the reason. At the end of a training, report this
// error only as a warning.
absl::Status WritePictureFile(const PictureFile& file,
                              const std::function<void(std::ostream&)>& draw);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_REPORT_TIMELINE_FILES_H_
