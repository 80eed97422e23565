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

// For kernels without close_range (before 5.9).
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

// The agent's stdio would otherwise stay open as long as the guardian lives:
// `launch | cat` must end with launch.
void LetGoOfStdio() {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return;
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) dup2(null, fd);
  if (null > STDERR_FILENO) close(null);
}

constexpr char kName[] = "muster-guardian";

// Both names that tools know a process by: the short one, and in place of the
// agent's command line one of its own, so that `pkill -9 -f` for launch or the
// script leaves the guardian alive, which then kills what is left.
void TakeName() {
  prctl(PR_SET_NAME, kName);
  const OwnedFd file(open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC));
  std::string shown;
  char piece[4096];
  ssize_t got;
  while (file.open() && (got = read(file.get(), piece, sizeof piece)) > 0) {
    shown.append(piece, static_cast<size_t>(got));
  }
  // The arguments lie in one piece, from argv[0] on; checked, since a program
  // may have set this pointer to something else.
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
  // A session of its own: a terminal's Ctrl-C, and a SIGKILL to the agent's
  // process group, do not reach it.
  setsid();
  TakeName();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  // All signals stay blocked, so that SIGTERM to a whole cgroup (systemd,
  // Slurm) does not end it, nor a stop signal leave it asleep while the agent
  // dies.
  // An inherited "ignore" of SIGCHLD would have the kernel reap unasked.
  struct sigaction by_default = {};
  by_default.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &by_default, nullptr);

  std::vector<int> kept_ones;
  for (const int fd : kept) {
    if (fd >= 0) kept_ones.push_back(fd);
  }
  LetGoOfStdio();
  CloseAllBut(std::move(kept_ones));
  // Without these the allocator keeps what one large environment took.
  mallopt(M_MMAP_THRESHOLD, 64 << 10);
  mallopt(M_TRIM_THRESHOLD, 64 << 10);

  sigset_t child_ended;
  sigemptyset(&child_ended);
  sigaddset(&child_ended, SIGCHLD);
  return OwnedFd(signalfd(-1, &child_ended, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace muster::agent
