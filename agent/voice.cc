#include "agent/voice.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace muster {
namespace {

void Write(const std::string& text) {
  // A console that is gone is no reason to stop a job.
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

void Voice::Notice(const std::string& line) const {
  if (talk_ == Talk::kAll) Error(line);
}

void Voice::Error(const std::string& line) const {
  Write(absl::StrCat(program_, ": ", line, "\n"));
}

int Voice::Refuse(const absl::Status& error) const {
  const bool is_usage = absl::IsInvalidArgument(error);
  Error(absl::StrCat(
      error.message(),
      is_usage ? absl::StrCat(" (see ", program_, " --help)") : std::string()));
  if (is_usage) return 2;
  if (absl::IsNotFound(error)) return 127;
  return absl::IsPermissionDenied(error) ? 126 : 1;
}

}  // namespace muster
