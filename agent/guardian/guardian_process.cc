#include "agent/guardian/guardian_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace muster::agent {
namespace {

// Closes descriptors one by one, for kernels without close_range (before 5.9).
void CloseListed(const std::vector<int>& kept) {
  DIR* const listing = opendir("/proc/self/fd");
  if (listing == nullptr) return;
  std::vector<int> open_ones;
  while (const dirent* entry = readdir(listing)) {
    const int fd = std::atoi(entry->d_name);
    const bool keep = std::find(kept.begin(), kept.end(), fd) != kept.end();
    if (fd > STDERR_FILENO && !keep) open_ones.push_back(fd);
  }
  closedir(listing);
  for (const int fd : open_ones) close(fd);
}

void CloseAllBut(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
#ifdef SYS_close_range
  unsigned first = STDERR_FILENO + 1;
  bool closed = true;
  for (const int fd : kept) {
    const auto keep = static_cast<unsigned>(fd);
    if (keep > first) {
      closed = closed && syscall(SYS_close_range, first, keep - 1, 0) == 0;
    }
    first = keep + 1;
  }
  if (closed && syscall(SYS_close_range, first, ~0u, 0) == 0) return;
#endif
  CloseListed(kept);
}

// Replaces stdio by /dev/null. Otherwise the agent's stdio would stay open as
// long as the guardian lives, and `launch | cat` would not end with launch.
void ReplaceStdio() {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return;
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) dup2(null, fd);
  if (null > STDERR_FILENO) close(null);
}

constexpr char kName[] = "muster-guardian";

// Sets the process's short name and replaces the command line that it inherits
// from the agent. `pkill -9 -f` for launch or the script then spares the
// guardian, which kills the remaining processes.
void SetProcessName() {
  prctl(PR_SET_NAME, kName);
  const OwnedFd file(open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC));
  std::string shown;
  char piece[4096];
  ssize_t got;
  while (file.open() && (got = read(file.get(), piece, sizeof piece)) > 0) {
    shown.append(piece, static_cast<size_t>(got));
  }
  // The arguments are contiguous in memory from argv[0] on. This is checked,
  // because a program may have changed the pointer.
  char* const arguments = program_invocation_name;
  if (shown.size() < sizeof kName ||
      shown.compare(0, std::strlen(arguments) + 1, arguments,
                    std::strlen(arguments) + 1) != 0) {
    return;
  }
  std::memset(arguments, 0, shown.size());
  std::memcpy(arguments, kName, sizeof kName);
}

}  // namespace

OwnedFd BecomeGuardianProcess(std::initializer_list<int> kept) {
  // A new session: a terminal's Ctrl-C, or a SIGKILL to the agent's process
  // group, does not reach the guardian.
  setsid();
  SetProcessName();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  // All signals stay blocked: SIGTERM to a whole cgroup (systemd, Slurm) must
  // not end the guardian, and a stop signal must not suspend it while the agent
  // dies. If SIGCHLD were ignored (inherited), the kernel would reap the
  // workers itself.
  struct sigaction by_default = {};
  by_default.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &by_default, nullptr);

  std::vector<int> kept_ones;
  for (const int fd : kept) {
    if (fd >= 0) kept_ones.push_back(fd);
  }
  ReplaceStdio();
  CloseAllBut(std::move(kept_ones));
  // Makes the allocator return the memory of a large environment to the system.
  mallopt(M_MMAP_THRESHOLD, 64 << 10);
  mallopt(M_TRIM_THRESHOLD, 64 << 10);

  sigset_t child_ended;
  sigemptyset(&child_ended);
  sigaddset(&child_ended, SIGCHLD);
  return OwnedFd(signalfd(-1, &child_ended, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace muster::agent
