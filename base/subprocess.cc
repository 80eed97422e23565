#include "base/subprocess.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/monotonic_clock.h"
#include "base/poll.h"

namespace muster {
namespace {

constexpr size_t kMaxDescriptors = 16;
// The polling interval of AwaitSubprocess on kernels without pidfd_open.
constexpr Duration kLookEvery = std::chrono::milliseconds(1);

// The step at which the child failed to start the program; kNone: no step has
// failed.
enum class Step { kNone, kDescriptors, kWorkingDirectory, kExec };
struct Failure {
  Step step = Step::kNone;
  int error = 0;
};

// Everything that the child uses until exec. The parent prepares it, because
// the child must not allocate.
struct Child {
  const SubprocessPlan& plan;
  std::vector<char*> argv = ExecPointers(plan.argv);
  std::vector<char*> environment = ExecPointers(plan.environment);
  pid_t parent = getpid();
  int null_fd;
  // Memory that the parent shares with the child. The child stores here which
  // step failed, and the errno.
  volatile Failure* failure;
};

[[noreturn]] void Fail(const Child& child, Step step) {
  child.failure->step = step;
  child.failure->error = errno;
  _exit(127);
}

bool PlaceDescriptors(const Child& child) {
  const std::vector<int>& wanted = child.plan.descriptors;
  // Copies of the source descriptors. A source may have the same number as a
  // target, so the copies are numbered above all targets. dup2 of a copy also
  // clears close-on-exec.
  std::array<int, kMaxDescriptors> copies;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == SubprocessPlan::kInherit) continue;
    const int source =
        wanted[i] == SubprocessPlan::kNull ? child.null_fd : wanted[i];
    copies[i] = fcntl(source, F_DUPFD_CLOEXEC, static_cast<int>(wanted.size()));
    if (copies[i] < 0) return false;
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == SubprocessPlan::kInherit) continue;
    if (dup2(copies[i], static_cast<int>(i)) < 0) return false;
  }
  return true;
}

// Runs in the child and executes the program. Calls only async-signal-safe
// functions, because other threads of the parent may hold any lock.
[[noreturn]] void Become(const Child& child) {
  const SubprocessPlan& plan = child.plan;
  if (plan.group == SubprocessPlan::Group::kOwnGroup) setpgid(0, 0);
  if (plan.group == SubprocessPlan::Group::kOwnSession) setsid();
  if (plan.death_signal != 0) {
    prctl(PR_SET_PDEATHSIG, plan.death_signal);
    // If the parent has exited before prctl, the child will not get the death
    // signal: exit now.
    if (getppid() != child.parent) _exit(127);
  }
  if (!PlaceDescriptors(child)) Fail(child, Step::kDescriptors);
  if (!plan.working_directory.empty() &&
      chdir(plan.working_directory.c_str()) != 0) {
    Fail(child, Step::kWorkingDirectory);
  }
  ResetSignals(plan.ignored_signals);
  sigprocmask(SIG_SETMASK, &plan.blocked_signals, nullptr);
  execvpe(child.argv[0], child.argv.data(), child.environment.data());
  Fail(child, Step::kExec);
}

// Uses vfork: posix_spawn cannot set the parent-death signal, and fork would
// copy memory and run the fork handlers of libraries (gRPC's handler stops
// gRPC's threads).
//
// The child shares this process's memory until exec, so no signal handler may
// run in the child. The parent's thread continues after the child's exec or
// exit. By then the child has written its Failure, if any.
//
// Under ThreadSanitizer and Valgrind, vfork behaves like fork. The child then
// does not share the memory: the Failure is lost, and the child exits with code
// 127.
pid_t StartChild(const Child& child) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = vfork();
  if (pid == 0) Become(child);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

absl::Status Refusal(const std::string& what, int error) {
  const std::string text = absl::StrCat(what, ": ", std::strerror(error));
  if (error == ENOENT) return absl::NotFoundError(text);
  if (error == EACCES) return absl::PermissionDeniedError(text);
  return absl::InternalError(text);
}

std::string_view NameOf(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

// Whether `pid` has exited, or is not (or no longer) a child of this process.
bool HasEnded(pid_t pid) {
  siginfo_t info = {};
  return waitid(P_PID, static_cast<id_t>(pid), &info,
                WEXITED | WNOWAIT | WNOHANG) != 0 ||
         info.si_pid != 0;
}

}  // namespace

std::string OwnProgram() {
  std::error_code unreadable;
  return std::filesystem::read_symlink("/proc/self/exe", unreadable).string();
}

absl::StatusOr<pid_t> StartSubprocess(const SubprocessPlan& plan) {
  MUSTER_CHECK(plan.descriptors.size() <= kMaxDescriptors);
  const std::string& program = plan.argv[0];
  OwnedFd null;
  if (std::count(plan.descriptors.begin(), plan.descriptors.end(),
                 SubprocessPlan::kNull) > 0) {
    null = OwnedFd(open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!null.open()) return Refusal("/dev/null", errno);
  }
  volatile Failure failure;
  const pid_t pid =
      StartChild({.plan = plan, .null_fd = null.get(), .failure = &failure});
  if (pid < 0) return Refusal(program, errno);
  // no step failed: the child executes the program
  if (failure.step == Step::kNone) return pid;
  ReapSubprocess(pid);
  return Refusal(failure.step == Step::kWorkingDirectory
                     ? plan.working_directory
                     : program,
                 failure.error);
}

void ResetSignals(uint64_t ignored) {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action = {};
    const bool is_ignored = (ignored >> (signal - 1) & 1) != 0;
    action.sa_handler = is_ignored ? SIG_IGN : SIG_DFL;
    // sigaction fails for SIGKILL, SIGSTOP and the signals that the C library
    // reserves for itself. These failures are ignored.
    sigaction(signal, &action, nullptr);
  }
}

std::vector<std::string> MergeEnvironment(
    const std::vector<std::string>& inherited,
    const std::vector<std::string>& changes,
    const std::vector<std::string>& unset) {
  std::set<std::string_view> dropped(unset.begin(), unset.end());
  std::map<std::string_view, size_t> last_of;
  for (size_t i = 0; i < changes.size(); ++i) {
    last_of[NameOf(changes[i])] = i;
    dropped.insert(NameOf(changes[i]));
  }
  std::vector<std::string> merged;
  merged.reserve(inherited.size() + last_of.size());
  for (const std::string& entry : inherited) {
    if (!dropped.contains(NameOf(entry))) merged.push_back(entry);
  }
  for (size_t i = 0; i < changes.size(); ++i) {
    if (last_of[NameOf(changes[i])] == i) merged.push_back(changes[i]);
  }
  return merged;
}

std::vector<std::string> EnvironmentWith(
    const std::vector<std::string>& changes,
    const std::vector<std::string>& unset) {
  std::vector<std::string> own;
  // Skip the loop if `environ` is null, as it is after clearenv(3).
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    own.emplace_back(*entry);
  }
  return MergeEnvironment(own, changes, unset);
}

OwnedFd OpenPidFd(pid_t pid) {
#ifdef SYS_pidfd_open
  return OwnedFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
#else
  return OwnedFd();
#endif
}

bool AwaitSubprocess(pid_t pid, Instant deadline, int cancel_fd) {
  const OwnedFd end = OpenPidFd(pid);
  while (!HasEnded(pid)) {
    pollfd fds[] = {{end.get(), POLLIN, 0}, {cancel_fd, POLLIN, 0}};
    PollUntil(fds, end.open()
                       ? deadline
                       : std::min(deadline, MonotonicNow() + kLookEvery));
    if (fds[1].revents != 0) return false;
    if (fds[0].revents == 0 && MonotonicNow() >= deadline) return false;
  }
  return true;
}

std::optional<int> ReapSubprocess(pid_t pid) {
  int status = 0;
  pid_t reaped;
  do {
    reaped = waitpid(pid, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  if (reaped != pid) return std::nullopt;
  return status;
}

int ExitCodeOf(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status)
                                  : WEXITSTATUS(wait_status);
}

}  // namespace muster
