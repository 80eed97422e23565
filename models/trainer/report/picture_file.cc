#include "models/trainer/report/picture_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace muster::models {
namespace {

absl::Status CannotWrite(const PictureFile& file, int error) {
  return absl::InvalidArgumentError(absl::StrCat("cannot write the ", file.kind,
                                                 " '", file.path,
                                                 "': ", std::strerror(error)));
}

}  // namespace

absl::Status CheckPictureFile(const PictureFile& file) {
  if (file.path.empty()) return absl::OkStatus();
  // An existing file is kept until there is a new one.
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
