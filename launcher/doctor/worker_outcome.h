#ifndef MUSTER_LAUNCHER_DOCTOR_WORKER_OUTCOME_H_
#define MUSTER_LAUNCHER_DOCTOR_WORKER_OUTCOME_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace muster::launcher {

// The result of a doctor's worker. The worker passes the result to the `launch`
// on the same node through a file, since lines of a worker's output get
// prefixes.
struct DoctorResult {
  int exit_code = 0;
  std::string page;  // text to print; empty: another node prints the page
};

// A file through which a worker of `launch doctor --nodes` passes its result to
// the `launch` on the same node. The destructor deletes the file.
class OutcomeFile {
 public:
  // Creates a file in `folder` for the worker's result. Unavailable: no file
  // can be created there.
  static absl::StatusOr<OutcomeFile> Make(const std::string& folder);
  OutcomeFile(OutcomeFile&& other) noexcept;
  OutcomeFile& operator=(OutcomeFile&&) = delete;
  ~OutcomeFile();

  const std::string& path() const { return path_; }
  // Returns the worker's result; nullopt if the worker has not written it yet.
  std::optional<DoctorResult> Read() const;

 private:
  explicit OutcomeFile(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Writes the result to the file `path`. Returns false if the file does not
// exist on this node or cannot be written.
bool LeavePage(const std::string& path, const DoctorResult& outcome);

// Writes only the exit code to the file `path`. A result that is already in the
// file is kept: another node that shares the folder may have written this
// result. Returns false if the file does not exist or cannot be written.
bool LeaveExitCode(const std::string& path, int exit_code);

// Encoded lines carry a text from a worker to the `launch` that started the
// job, if this `launch` runs on another machine. The encoded lines are part of
// the worker's output. On the way, lines may get prefixes, may be mixed with
// other output, and are cut if they are long.

// Encodes `text` as lines of bounded length. Pure.
std::string OutcomeLines(const std::string& text);

struct ReadOutcome {
  std::optional<std::string> text;  // decoded text; nullopt: lines are missing
  std::string rest;  // all lines of the output that OutcomeLines did not make
};
// Decodes the lines of OutcomeLines that `output` contains. Pure.
ReadOutcome ReadOutcomeLines(const std::string& output);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_WORKER_OUTCOME_H_
