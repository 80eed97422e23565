#ifndef MUSTER_LAUNCHER_DOCTOR_OUTCOME_FILE_H_
#define MUSTER_LAUNCHER_DOCTOR_OUTCOME_FILE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace muster::launcher {

// How a worker hands its page to the `launch` that waits on the same node,
// past the prefixes that a worker's output gets.
struct DoctorResult {
  int exit_code = 0;
  std::string page;  // empty: another node prints it
};

// A file that is gone with this.
class OutcomeFile {
 public:
  // Unavailable: no file can be made in `folder`.
  static absl::StatusOr<OutcomeFile> Make(const std::string& folder);
  OutcomeFile(OutcomeFile&& other) noexcept;
  OutcomeFile& operator=(OutcomeFile&&) = delete;
  ~OutcomeFile();

  const std::string& path() const { return path_; }
  // nullopt while nobody has left anything.
  std::optional<DoctorResult> Read() const;

 private:
  explicit OutcomeFile(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Leaves a page; false where there is no such file on this node.
bool LeavePage(const std::string& path, const DoctorResult& outcome);

// Leaves the exit code where nobody has left a page before: nodes may share a
// folder, or be one machine. False where there is no such file.
bool LeaveExitCode(const std::string& path, int exit_code);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_OUTCOME_FILE_H_
