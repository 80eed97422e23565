#ifndef MUSTER_LAUNCHER_DOCTOR_CAPTURED_OUTPUT_H_
#define MUSTER_LAUNCHER_DOCTOR_CAPTURED_OUTPUT_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"

namespace muster::launcher {

// While this is there, what this process and those that it starts print to
// stdout goes to a file without a name.
class CapturedOutput {
 public:
  // Unavailable: no file can be made in `folder`.
  static absl::StatusOr<CapturedOutput> Begin(const std::string& folder);
  CapturedOutput(CapturedOutput&&) = default;
  CapturedOutput& operator=(CapturedOutput&&) = delete;
  ~CapturedOutput();

  // Gives stdout back; what was printed.
  std::string End();

 private:
  CapturedOutput(OwnedFd file, OwnedFd before);
  OwnedFd file_;
  OwnedFd before_;  // the real stdout; not open once it was given back
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_CAPTURED_OUTPUT_H_
