#include "launcher/init_process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/subprocess.h"

namespace muster::launcher {
namespace {

// Reaps children that have exited. Stops once `child` is reaped, or no exited
// child is left. Returns whether `child` was reaped; if so, sets its
// `wait_status`.
bool ReapUntil(pid_t child, int& wait_status) {
  for (;;) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid <= 0) return false;
    if (pid == child) {
      wait_status = status;
      return true;
    }
  }
}

}  // namespace

int RunUnderInit(const std::function<int()>& program) {
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  // fork() instead of StartSubprocess, because the child continues this program
  // and calls `program`.
  const pid_t child = fork();
  if (child < 0) {
    std::fprintf(stderr, "muster: fork: %s\n", std::strerror(errno));
    return 1;
  }
  if (child == 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return program();
  }
  int wait_status = 0;
  while (!ReapUntil(child, wait_status)) {
    siginfo_t info;
    // Wait for one of the blocked signals, and pass it on to the child. SIGCHLD
    // only ends the wait. A signal that the kernel sends from a terminal
    // (SI_KERNEL) is not passed on: the kernel sends it to the child as well,
    // so one Ctrl-C would count twice.
    if (sigwaitinfo(&all, &info) > 0 && info.si_signo != SIGCHLD &&
        info.si_code != SI_KERNEL) {
      kill(child, info.si_signo);
    }
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return ExitCodeOf(wait_status);
}

int RunAsInit(const std::function<int()>& program) {
  return getpid() == 1 ? RunUnderInit(program) : program();
}

}  // namespace muster::launcher
