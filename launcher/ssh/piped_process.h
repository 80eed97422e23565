#ifndef MUSTER_LAUNCHER_SSH_PIPED_PROCESS_H_
#define MUSTER_LAUNCHER_SSH_PIPED_PROCESS_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"

namespace muster::launcher {

// A program to start with pipes to its descriptors.
struct PipedProcessPlan {
  std::vector<std::string> argv;  // argv[0]: a path, or a name found in PATH
  // the program's whole environment, as NAME=VALUE
  std::vector<std::string> environment;
  // the program's working directory; empty: this process's
  std::string working_directory;
  enum class Stdin { kPipe, kNothing } standard_input = Stdin::kPipe;
  // Number of additional pipes: their write ends are descriptors 3, 4, … of the
  // program.
  int extra_pipes = 0;
  // Signal that the program gets when this process dies; 0: none.
  int death_signal = 0;
};

// A child process in its own process group, so that signals from the terminal
// do not reach it. The child ignores the signals for which IsIgnored is true;
// all other signals have their default action. The destructor kills the whole
// group and reaps the child if the child is still running. Not thread-safe.
class PipedProcess {
 public:
  // Starts the program. Errors (NotFound, PermissionDenied, Internal) are one
  // line that names the failed call.
  static absl::StatusOr<PipedProcess> Start(const PipedProcessPlan& plan);

  PipedProcess(PipedProcess&& other) noexcept;
  PipedProcess& operator=(PipedProcess&&) = delete;
  ~PipedProcess();

  // This process's ends of the pipes to the child; non-blocking. The owner of
  // this object may close them.
  OwnedFd standard_input;
  OwnedFd standard_output;
  OwnedFd standard_error;
  std::vector<OwnedFd> extra;

  // A descriptor that becomes readable when the child exits.
  int end_fd() const { return pidfd_.get(); }
  // The exit code, or 128 + signal; nullopt while the child is running.
  std::optional<int> ExitCode();
  // The signal that has ended the child; nullopt: the child is running, or has
  // exited by itself. ExitCode must have been called.
  std::optional<int> EndSignal() const { return end_signal_; }
  void Signal(int signal) const;

 private:
  PipedProcess() = default;

  pid_t pid_ = -1;
  OwnedFd pidfd_;
  std::optional<int> exit_code_;
  std::optional<int> end_signal_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_PIPED_PROCESS_H_
