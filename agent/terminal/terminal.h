#ifndef MUSTER_AGENT_TERMINAL_TERMINAL_H_
#define MUSTER_AGENT_TERMINAL_TERMINAL_H_

#include <sys/ioctl.h>
#include <termios.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/owned_fd.h"

namespace muster::agent {

// The modes of a terminal before its keys are forwarded to a worker, and during
// the forwarding.
struct TerminalModes {
  termios before = {};
  // Modes without echo, line editing and flow control, because the worker's
  // pseudo-terminal performs these functions. Ctrl-C, Ctrl-\ and Ctrl-Z still
  // signal this process, and output is still processed, so that Muster's own
  // lines are correct.
  termios forwarding = {};
};

// Reads the current modes of `fd` into `before`, and derives `forwarding`.
// nullopt: `fd` is no terminal.
std::optional<TerminalModes> ReadTerminalModes(int fd);

// Whether `fd` is a terminal whose modes are exactly `modes`.
bool HasModes(int fd, const termios& modes);

// Repairs `typed`: bytes that the user typed in the modes `before`, and that
// were read after a change to raw modes. Linux has stored each typed
// end-of-input character (usually Ctrl-D) as a NUL byte. Replaces each NUL byte
// by this character, if `before` includes line editing. (A typed Ctrl-@ is a
// NUL byte as well, and is replaced, too.)
void RestoreTypedEnds(const termios& before, std::string& typed);

// Sets the modes of the terminal `fd` at once; returns false on failure. The
// kernel does not stop a caller in the background, because SIGTTOU is blocked
// during the call.
bool SetModes(int fd, const termios& modes);

// Encodes the modes for another process of the same binary.
std::string EncodeModes(const TerminalModes& modes);
// Decodes modes from EncodeModes. nullopt: invalid bytes.
std::optional<TerminalModes> DecodeModes(std::string_view bytes);

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

#endif  // MUSTER_AGENT_TERMINAL_TERMINAL_H_
