#include "launcher/ssh/piped_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/exec_pointers.h"
#include "base/ignored_signals.h"

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

// What the child becomes. Made before fork: afterwards only calls that are safe
// beside threads.
struct Becoming {
  std::vector<char*> argv;
  std::vector<char*> environment;
  const char* directory = nullptr;  // null: stay
  int death_signal = 0;
  pid_t parent = 0;
  std::vector<int> fds;  // fds[n] becomes descriptor n
  int failure_fd = -1;
};

[[noreturn]] void Fail(const Becoming& becoming, int step) {
  const std::array<int, 2> what = {step, errno};
  [[maybe_unused]] const ssize_t written =
      write(becoming.failure_fd, what.data(), sizeof what);
  _exit(127);
}

// What could not be done, told by number through the failure pipe.
constexpr int kPlacing = 0;
constexpr int kChangingFolder = 1;
constexpr int kExecuting = 2;

[[noreturn]] void Become(const Becoming& becoming) {
  setpgid(0, 0);
  if (becoming.death_signal != 0) {
    prctl(PR_SET_PDEATHSIG, becoming.death_signal);
    if (getppid() != becoming.parent) _exit(127);
  }
  // Above all targets first, so that no source is overwritten.
  const int count = static_cast<int>(becoming.fds.size());
  std::array<int, 16> high;
  for (int i = 0; i < count; ++i) {
    high[static_cast<size_t>(i)] =
        fcntl(becoming.fds[static_cast<size_t>(i)], F_DUPFD_CLOEXEC, count);
    if (high[static_cast<size_t>(i)] < 0) Fail(becoming, kPlacing);
  }
  for (int i = 0; i < count; ++i) {
    if (dup2(high[static_cast<size_t>(i)], i) < 0) Fail(becoming, kPlacing);
  }
  if (becoming.directory != nullptr && chdir(becoming.directory) != 0) {
    Fail(becoming, kChangingFolder);
  }
  for (int number = 1; number < NSIG; ++number) {
    if (number == SIGKILL || number == SIGSTOP || IsIgnored(number)) continue;
    signal(number, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvpe(becoming.argv[0], becoming.argv.data(), becoming.environment.data());
  Fail(becoming, kExecuting);
}

absl::Status Refusal(const PipedProcessPlan& plan, int step, int error) {
  const std::string what =
      step == kChangingFolder ? plan.working_directory : plan.argv[0];
  const std::string text = absl::StrCat(what, ": ", std::strerror(error));
  if (error == ENOENT) return absl::NotFoundError(text);
  if (error == EACCES) return absl::PermissionDeniedError(text);
  return absl::InternalError(text);
}

}  // namespace

absl::StatusOr<PipedProcess> PipedProcess::Start(const PipedProcessPlan& plan) {
  std::vector<Pipe> pipes;  // stdin's is reversed
  const int count = 3 + plan.extra_pipes;
  for (int i = 0; i <= count; ++i) {
    absl::StatusOr<Pipe> made = MakePipe();
    if (!made.ok()) return made.status();
    pipes.push_back(*std::move(made));
  }
  const OwnedFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const bool has_stdin = plan.standard_input == PipedProcessPlan::Stdin::kPipe;

  Becoming becoming;
  becoming.argv = ExecPointers(plan.argv);
  becoming.environment = ExecPointers(plan.environment);
  if (!plan.working_directory.empty()) {
    becoming.directory = plan.working_directory.c_str();
  }
  becoming.death_signal = plan.death_signal;
  becoming.parent = getpid();
  becoming.fds.push_back(has_stdin ? pipes[0].read.get() : nothing.get());
  for (int i = 1; i < count; ++i) {
    becoming.fds.push_back(pipes[static_cast<size_t>(i)].write.get());
  }
  Pipe& failure = pipes.back();
  // Out of the way of the descriptors that the child gets.
  OwnedFd told(fcntl(failure.write.get(), F_DUPFD_CLOEXEC, 2 * count));
  failure.write.Close();
  becoming.failure_fd = told.get();

  const pid_t pid = fork();
  if (pid < 0) {
    return absl::InternalError(absl::StrCat("fork: ", std::strerror(errno)));
  }
  if (pid == 0) Become(becoming);

  PipedProcess process;
  process.pid_ = pid;
  process.pidfd_ = OwnedFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  told.Close();
  std::array<int, 2> what = {};
  ssize_t got;
  do {
    got = read(failure.read.get(), what.data(), sizeof what);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof what) return Refusal(plan, what[0], what[1]);
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
      exit_code_(other.exit_code_) {}

PipedProcess::~PipedProcess() {
  if (pid_ <= 0 || exit_code_) return;
  // With what it started, such as a ProxyCommand. Not reaped yet, so the number
  // is still the group's own.
  kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

std::optional<int> PipedProcess::ExitCode() {
  if (exit_code_ || pid_ <= 0) return exit_code_;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  exit_code_ =
      WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return exit_code_;
}

void PipedProcess::Signal(int signal) const {
  if (pid_ > 0 && !exit_code_) kill(pid_, signal);
}

}  // namespace muster::launcher
