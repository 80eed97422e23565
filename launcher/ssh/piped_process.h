#ifndef MUSTER_LAUNCHER_SSH_PIPED_PROCESS_H_
#define MUSTER_LAUNCHER_SSH_PIPED_PROCESS_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"

namespace muster::launcher {

// How a program is started with pipes to it.
struct PipedProcessPlan {
  std::vector<std::string> argv;         // argv[0]: a path, or found in PATH
  std::vector<std::string> environment;  // NAME=VALUE, all of it
  std::string working_directory;         // empty: this one's
  enum class Stdin { kPipe, kNothing } standard_input = Stdin::kPipe;
  // Descriptors 3, 4, … of the program are the write ends of this many pipes.
  int extra_pipes = 0;
  // Sent to it when this process dies; 0: nothing is.
  int death_signal = 0;
};

// A child in a process group of its own, so that a terminal's signals do not
// reach it, with default signal handling. If it still runs when this goes, the
// whole group is killed and it is reaped. Not thread-safe.
class PipedProcess {
 public:
  // NotFound, PermissionDenied, Internal: one line with what failed.
  static absl::StatusOr<PipedProcess> Start(const PipedProcessPlan& plan);

  PipedProcess(PipedProcess&& other) noexcept;
  PipedProcess& operator=(PipedProcess&&) = delete;
  ~PipedProcess();

  // Non-blocking ends of the pipes; may be closed by the owner.
  OwnedFd standard_input;
  OwnedFd standard_output;
  OwnedFd standard_error;
  std::vector<OwnedFd> extra;

  // Readable once the process has ended.
  int end_fd() const { return pidfd_.get(); }
  // The exit code, or 128 + signal, once it has ended.
  std::optional<int> ExitCode();
  void Signal(int signal) const;

 private:
  PipedProcess() = default;

  pid_t pid_ = -1;
  OwnedFd pidfd_;
  std::optional<int> exit_code_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_PIPED_PROCESS_H_
