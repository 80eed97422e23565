#ifndef MUSTER_LAUNCHER_SSH_PIPED_PROCESS_H_
#define MUSTER_LAUNCHER_SSH_PIPED_PROCESS_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"

namespace muster::launcher {

// How a program is started with pipes to its descriptors.
struct PipedProcessPlan {
  std::vector<std::string> argv;         // argv[0] is a path, or found in PATH
  std::vector<std::string> environment;  // the whole environment, NAME=VALUE
  std::string working_directory;         // empty: the same as this process's
  enum class Stdin { kPipe, kNothing } standard_input = Stdin::kPipe;
  // Number of additional pipes: their write ends are descriptors 3, 4, … of the
  // program.
  int extra_pipes = 0;
  // Signal that the program gets when this process dies; 0: none.
  int death_signal = 0;
};

// A child process in its own process group, which the terminal's signals do not
// reach, with default signal handling. The destructor kills the whole group and
// reaps the child if the child is still running. Not thread-safe.
class PipedProcess {
 public:
  // NotFound, PermissionDenied, Internal: one line with the failed call.
  static absl::StatusOr<PipedProcess> Start(const PipedProcessPlan& plan);

  PipedProcess(PipedProcess&& other) noexcept;
  PipedProcess& operator=(PipedProcess&&) = delete;
  ~PipedProcess();

  // Non-blocking ends of the pipes. The owner may close them.
  OwnedFd standard_input;
  OwnedFd standard_output;
  OwnedFd standard_error;
  std::vector<OwnedFd> extra;

  // Readable once the child has ended.
  int end_fd() const { return pidfd_.get(); }
  // The exit code, or 128 + signal; nullopt while the child is running.
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
