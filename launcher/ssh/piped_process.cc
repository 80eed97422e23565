#include "launcher/ssh/piped_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/ignored_signals.h"
#include "base/subprocess.h"

namespace muster::launcher {
namespace {

struct Pipe {
  OwnedFd read;
  OwnedFd write;
};

absl::StatusOr<Pipe> MakePipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) {
    return absl::InternalError(absl::StrCat("no pipe: ", std::strerror(errno)));
  }
  return Pipe{OwnedFd(fds[0]), OwnedFd(fds[1])};
}

void MakeNonBlocking(const OwnedFd& fd) {
  fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

}  // namespace

absl::StatusOr<PipedProcess> PipedProcess::Start(const PipedProcessPlan& plan) {
  // The child gets the read end of the first pipe (stdin), and the write ends
  // of all other pipes.
  std::vector<Pipe> pipes;
  const int count = 3 + plan.extra_pipes;
  for (int i = 0; i < count; ++i) {
    absl::StatusOr<Pipe> made = MakePipe();
    if (!made.ok()) return made.status();
    pipes.push_back(*std::move(made));
  }
  const bool has_stdin = plan.standard_input == PipedProcessPlan::Stdin::kPipe;

  SubprocessPlan start;
  start.argv = plan.argv;
  start.environment = plan.environment;
  start.working_directory = plan.working_directory;
  start.descriptors.push_back(has_stdin ? pipes[0].read.get()
                                        : SubprocessPlan::kNull);
  for (int i = 1; i < count; ++i) {
    start.descriptors.push_back(pipes[static_cast<size_t>(i)].write.get());
  }
  start.group = SubprocessPlan::Group::kOwnGroup;
  start.ignored_signals = IgnoredSignals();
  start.death_signal = plan.death_signal;
  const absl::StatusOr<pid_t> pid = StartSubprocess(start);
  if (!pid.ok()) return pid.status();

  PipedProcess process;
  process.pid_ = *pid;
  process.pidfd_ = OpenPidFd(*pid);
  if (!process.pidfd_.open()) {
    return absl::InternalError(
        absl::StrCat("pidfd_open: ", std::strerror(errno)));
  }
  if (has_stdin) process.standard_input = std::move(pipes[0].write);
  process.standard_output = std::move(pipes[1].read);
  process.standard_error = std::move(pipes[2].read);
  for (int i = 3; i < count; ++i) {
    process.extra.push_back(std::move(pipes[static_cast<size_t>(i)].read));
    MakeNonBlocking(process.extra.back());
  }
  if (has_stdin) MakeNonBlocking(process.standard_input);
  MakeNonBlocking(process.standard_output);
  MakeNonBlocking(process.standard_error);
  return process;
}

PipedProcess::PipedProcess(PipedProcess&& other) noexcept
    : standard_input(std::move(other.standard_input)),
      standard_output(std::move(other.standard_output)),
      standard_error(std::move(other.standard_error)),
      extra(std::move(other.extra)),
      pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      exit_code_(other.exit_code_),
      end_signal_(other.end_signal_) {}

PipedProcess::~PipedProcess() {
  if (pid_ <= 0 || exit_code_) return;
  // Kill the child's process group, which includes processes that the child
  // started, such as a ProxyCommand. The group's id is still valid, because the
  // child has not been reaped.
  kill(-pid_, SIGKILL);
  ReapSubprocess(pid_);
}

std::optional<int> PipedProcess::ExitCode() {
  if (exit_code_ || pid_ <= 0) return exit_code_;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  exit_code_ = ExitCodeOf(status);
  if (WIFSIGNALED(status)) end_signal_ = WTERMSIG(status);
  return exit_code_;
}

void PipedProcess::Signal(int signal) const {
  if (pid_ > 0 && !exit_code_) kill(pid_, signal);
}

}  // namespace muster::launcher
