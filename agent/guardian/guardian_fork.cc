#include "agent/guardian/guardian_fork.h"

#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <utility>

#include "agent/guardian/guardian_loop.h"
#include "agent/guardian/orphan_sweep.h"
#include "base/subprocess.h"

namespace muster::agent {
namespace {

absl::Status Failed(const char* call) {
  return absl::InternalError(std::string("the guardian cannot be made: ") +
                             call + ": " + std::strerror(errno));
}

OwnedFd ChildSignals() {
  sigset_t child_ended;
  sigemptyset(&child_ended);
  sigaddset(&child_ended, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child_ended, nullptr);
  return OwnedFd(signalfd(-1, &child_ended, SFD_CLOEXEC | SFD_NONBLOCK));
}

// Forks with all signals blocked in the child, so that a Ctrl-C at this moment
// does not end the child before its set-up.
pid_t ForkWithBlockedSignals() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t pid = fork();
  const int error = errno;
  if (pid != 0) sigprocmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

}  // namespace

absl::StatusOr<ForkedGuardian> ForkGuardian() {
  // If SIGCHLD were ignored (inherited), the kernel would reap children itself.
  struct sigaction by_default = {};
  by_default.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &by_default, nullptr);
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return Failed("prctl");

  ForkedGuardian forked;
  if (getpid() == 1) {
    forked.strangers = ChildSignals();
    if (!forked.strangers.open()) return Failed("signalfd");
  }
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                 ends) != 0) {
    return Failed("socketpair");
  }
  forked.socket = OwnedFd(ends[0]);
  OwnedFd theirs(ends[1]);
  OwnedFd agent = OpenPidFd(getpid());
  forked.older_children = ChildrenOfThisProcess();
  forked.pid = ForkWithBlockedSignals();
  if (forked.pid < 0) return Failed("fork");
  if (forked.pid == 0) {
    // Only the agent may hold this end; otherwise its end of file never comes.
    forked.socket.Close();
    RunGuardian(std::move(theirs), std::move(agent));
  }
  return forked;
}

}  // namespace muster::agent
