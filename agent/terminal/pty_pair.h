#ifndef MUSTER_AGENT_TERMINAL_PTY_PAIR_H_
#define MUSTER_AGENT_TERMINAL_PTY_PAIR_H_

#include <sys/ioctl.h>

#include <optional>

#include "base/owned_fd.h"

namespace muster::agent {

// A pseudo-terminal. Bytes written to `slave` are read from `master` unchanged
// (no "\r" before "\n"). Bytes written to `master` are edited, echoed and read
// from `slave` like keyboard input.
struct PtyPair {
  OwnedFd master;  // non-blocking; read fails with EIO when no slave is open
  OwnedFd slave;
};

// Makes a pseudo-terminal with the input modes and the size of the terminal
// `like`. nullopt: `like` is no terminal, or no pseudo-terminal is available
// (no /dev/ptmx, no free descriptor).
std::optional<PtyPair> OpenPty(int like);

// The size of the terminal `fd`; nullopt: `fd` is no terminal.
std::optional<winsize> ReadWindowSize(int fd);

// Sets the size of the terminal `fd`. If the size changes, the kernel sends
// SIGWINCH to the foreground processes of the session whose controlling
// terminal it is.
void SetWindowSize(int fd, const winsize& size);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_TERMINAL_PTY_PAIR_H_
