#include "agent/guardian/spawn.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <string_view>

#include "agent/binding/cpu_list.h"
#include "agent/guardian/wire_fields.h"
#include "base/subprocess.h"
#include "base/time.h"

namespace muster::agent {

int BindToCpus(const std::vector<int>& cpus) {
  // The size of the CPU set in bits: the greatest CPU number, which is the last
  // of `cpus`, plus one.
  const size_t count = static_cast<size_t>(cpus.back()) + 1;
  const size_t bytes = CPU_ALLOC_SIZE(count);
  cpu_set_t* set = CPU_ALLOC(count);
  if (set == nullptr) return ENOMEM;
  CPU_ZERO_S(bytes, set);
  for (const int cpu : cpus) CPU_SET_S(static_cast<size_t>(cpu), bytes, set);
  const int error = sched_setaffinity(0, bytes, set) == 0 ? 0 : errno;
  CPU_FREE(set);
  return error;
}

void PreferMemoryOf(int numa_node) {
#ifdef SYS_set_mempolicy
  // The mode MPOL_PREFERRED of the system call set_mempolicy, as in the
  // kernel's <linux/mempolicy.h>. The call is made directly, because the C
  // library has no function for it.
  constexpr int kPreferred = 1;
  constexpr size_t kBits = sizeof(unsigned long) * CHAR_BIT;
  const size_t node = static_cast<size_t>(numa_node);
  std::vector<unsigned long> mask(node / kBits + 1);
  mask[node / kBits] = 1ul << (node % kBits);
  // The size argument is one larger than the mask, because the kernel reads one
  // bit less than the argument says.
  syscall(SYS_set_mempolicy, kPreferred, mask.data(), mask.size() * kBits + 1);
#endif
}

namespace {

// The interval in milliseconds at which the parent checks whether the child has
// called setsid. The child needs microseconds for it, or milliseconds on a busy
// machine.
constexpr int kSessionTurnMilliseconds = 1;
constexpr int kMaxSessionTurns = 1000;
// The maximum length in bytes of the path in a message about a failed start.
// The message then fits in PIPE_BUF bytes, so that one write sends it whole and
// one read receives it whole.
constexpr size_t kMaxPathBytes = PIPE_BUF - 64;

std::string EncodeFailure(const StartFailure& failure) {
  FieldWriter out(0);
  out.String(failure.step);
  out.String(std::string_view(failure.path).substr(0, kMaxPathBytes));
  out.I32(failure.error);
  return out.Take();
}

void Pause(Duration duration) {
  const timespec span = ToTimespec(duration);
  nanosleep(&span, nullptr);
}

// Enters the working directory and executes the program. Returns only on
// failure.
StartFailure EnterAndExecute(const SpawnRequest& request) {
  if (!request.working_directory.empty() &&
      chdir(request.working_directory.c_str()) != 0) {
    return {"chdir", request.working_directory, errno};
  }
  return ExecProgram(request.argv, request.environment);
}

StartFailure BecomeProgram(const SpawnRequest& request, pid_t parent,
                           pid_t agent) {
  // Each worker gets its own session, because the kernel's autogroup scheduler
  // distributes CPU time by session. setsid also makes the child the leader of
  // a new process group. setsid is the first call, because the parent cannot
  // signal the process group before it exists (SignalGroup).
  setsid();
#ifdef PR_SET_PTRACER
  // Allows gdb and py-spy, which the agent runs to read a worker's stack, to
  // attach to this worker where the Yama security module restricts tracing to
  // ancestors. The permission survives exec.
  prctl(PR_SET_PTRACER, agent);
#endif
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // If the parent died before prctl(PR_SET_PDEATHSIG), the kernel sends no
  // parent-death signal, so the child kills itself.
  if (getppid() != parent) raise(SIGKILL);
  if (request.stdin_fd >= 0 && dup2(request.stdin_fd, STDIN_FILENO) < 0) {
    return {"stdin", "", errno};
  }
  if (request.controls_terminal && ioctl(STDIN_FILENO, TIOCSCTTY, 0) != 0) {
    return {"terminal", "", errno};
  }
  if (request.stdout_fd >= 0 && dup2(request.stdout_fd, STDOUT_FILENO) < 0) {
    return {"stdout", "", errno};
  }
  if (request.stderr_fd >= 0 && dup2(request.stderr_fd, STDERR_FILENO) < 0) {
    return {"stderr", "", errno};
  }
#ifdef SYS_close_range
  // All descriptors are close-on-exec already. This call covers descriptors
  // that libraries opened without the flag. Kernels before 5.11 refuse the
  // call, which is harmless.
  constexpr unsigned kCloseOnExec = 1 << 2;
  syscall(SYS_close_range, 3, ~0u, kCloseOnExec);
#endif
  if (request.key_fd >= 0 && fcntl(request.key_fd, F_SETFD, 0) != 0) {
    return {"key", "", errno};
  }
  if (!request.cpus.empty()) {
    if (const int error = BindToCpus(request.cpus); error != 0) {
      return {"bind", CpuList(request.cpus), error};
    }
  }
  if (request.memory_node) PreferMemoryOf(*request.memory_node);
  // Signals that the guardian ignores, such as SIGPIPE, would stay ignored
  // after exec.
  ResetSignals(request.ignored_signals);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // If the program cannot be executed for a temporary reason, the child tries
  // again after a delay. The child waits, not the guardian, so that the
  // guardian can handle other messages meanwhile. A signal ends the waiting
  // child, as it would end the program.
  for (int failed = 1;; ++failed) {
    StartFailure failure = EnterAndExecute(request);
    const std::optional<Duration> delay = DelayOfRetry(failed);
    if (!IsPassing(failure, request.seen) || !delay.has_value()) return failure;
    Pause(*delay);
  }
}

}  // namespace

std::variant<Spawned, StartFailure> Spawn(const SpawnRequest& request) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return StartFailure{"pipe", "", errno};
  OwnedFd outcome(ends[0]);
  OwnedFd report(ends[1]);
  const pid_t parent = getpid();
  const pid_t agent = getppid();
  const pid_t child = fork();
  if (child < 0) return StartFailure{"fork", request.argv[0], errno};
  if (child == 0) {
    const std::string failure =
        EncodeFailure(BecomeProgram(request, parent, agent));
    // A failed write is ignored, because it means that the parent, the only
    // reader of the message, is gone.
    [[maybe_unused]] const ssize_t told =
        write(report.get(), failure.data(), failure.size());
    _exit(127);
  }
  return Spawned{child, std::move(outcome)};
}

void SignalGroup(pid_t child, const OwnedFd& outcome, int signal) {
  // Waits until the child leads a process group of its own, and stops early if
  // the child dies. The parent does not create the group itself: a setpgid by
  // the parent would make the child's setsid fail.
  for (int turn = 0; outcome.open() && turn < kMaxSessionTurns; ++turn) {
    if (getsid(child) == child) break;
    pollfd settled = {outcome.get(), POLLIN, 0};
    if (poll(&settled, 1, kSessionTurnMilliseconds) != 0) break;
  }
  if (kill(-child, signal) == 0 || errno != ESRCH) return;
  kill(child, signal);
}

std::optional<StartFailure> ReadStartFailure(const OwnedFd& outcome) {
  char bytes[PIPE_BUF];
  ssize_t got;
  do {
    got = read(outcome.get(), bytes, sizeof bytes);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return std::nullopt;
  FieldReader in(std::string_view(bytes, static_cast<size_t>(got)));
  in.U8();
  StartFailure failure;
  failure.step = in.String();
  failure.path = in.String();
  failure.error = in.I32();
  return failure;
}

}  // namespace muster::agent
