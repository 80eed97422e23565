#ifndef MUSTER_MODELS_TRAINER_REPORT_PICTURE_FILE_H_
#define MUSTER_MODELS_TRAINER_REPORT_PICTURE_FILE_H_

#include <functional>
#include <ostream>
#include <string>

#include "absl/status/status.h"

namespace muster {

// What a training leaves at its end for people to look at: a timeline, the
// picture of a schedule.
struct PictureFile {
  // "timeline"
  std::string kind;
  // Empty: none is wanted.
  std::string path;
};

// Before a training, whose picture would be lost otherwise. InvalidArgument: no
// file can be written there; why.
absl::Status CheckPictureFile(const PictureFile& file);

// What `draw` writes. InvalidArgument: it cannot be written, which at the end
// of a training is worth a warning; why.
absl::Status WritePictureFile(const PictureFile& file,
                              const std::function<void(std::ostream&)>& draw);

}  // namespace muster

#endif  // MUSTER_MODELS_TRAINER_REPORT_PICTURE_FILE_H_
