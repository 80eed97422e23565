#ifndef MUSTER_LAUNCHER_DOCTOR_CAPTURED_OUTPUT_H_
#define MUSTER_LAUNCHER_DOCTOR_CAPTURED_OUTPUT_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"

namespace muster::launcher {

// Redirects the stdout of this process and of its children to an unlinked file,
// until End() or the destructor.
class CapturedOutput {
 public:
  // Unavailable: no file can be created in `folder`.
  static absl::StatusOr<CapturedOutput> Begin(const std::string& folder);
  CapturedOutput(CapturedOutput&&) = default;
  CapturedOutput& operator=(CapturedOutput&&) = delete;
  ~CapturedOutput();

  // Restores stdout and returns the captured output.
  std::string End();

 private:
  CapturedOutput(OwnedFd file, OwnedFd before);
  OwnedFd file_;
  OwnedFd before_;  // the original stdout; closed once stdout is restored
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_CAPTURED_OUTPUT_H_
