#ifndef MUSTER_AGENT_TERMINAL_PTY_PAIR_H_
#define MUSTER_AGENT_TERMINAL_PTY_PAIR_H_

#include <sys/ioctl.h>

#include <optional>

#include "base/owned_fd.h"

namespace muster::agent {

// A pseudo-terminal. What is written to `slave` is read from `master`
// unchanged (no "\r" before "\n"), and what is written to `master` is edited,
// echoed and read from `slave` as if it were typed there.
struct PtyPair {
  OwnedFd master;  // non-blocking; reading gives EIO once no slave is open
  OwnedFd slave;
};

// One with the input modes and the size of the terminal `like`. Nothing: `like`
// is no terminal, or none can be made (no /dev/ptmx, no descriptor left).
std::optional<PtyPair> OpenPty(int like);

// Nothing: `fd` is no terminal.
std::optional<winsize> ReadWindowSize(int fd);

// The foreground processes of those whose controlling terminal `fd` is get
// SIGWINCH if its size changes.
void SetWindowSize(int fd, const winsize& size);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_TERMINAL_PTY_PAIR_H_
