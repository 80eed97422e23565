#ifndef MUSTER_AGENT_TERMINAL_TERMINAL_MODES_H_
#define MUSTER_AGENT_TERMINAL_TERMINAL_MODES_H_

#include <termios.h>

#include <optional>
#include <string>
#include <string_view>

namespace muster::agent {

// A terminal's modes before and while its keys are forwarded to a worker.
struct TerminalModes {
  termios before = {};
  // No echo, line editing or flow control, because the worker's terminal does
  // these. Ctrl-C, Ctrl-\ and Ctrl-Z still signal this process, and output is
  // still processed, so that Muster's own lines are correct.
  termios forwarding = {};
};

// The current modes of `fd`, as `before`. nullopt: `fd` is no terminal.
std::optional<TerminalModes> ReadTerminalModes(int fd);

// Whether `fd` has exactly the modes `modes`.
bool HasModes(int fd, const termios& modes);

// Restores the end-of-input characters in bytes that were typed in the modes
// `before` and are read in raw modes. Linux stores such a character as a NUL
// byte, and delivers it in raw modes like a typed Ctrl-@.
void RestoreTypedEnds(const termios& before, std::string& typed);

// Sets the modes of `fd` at once. A caller in the background is not stopped
// (SIGTTOU); the call may fail then.
bool SetModes(int fd, const termios& modes);

// Encodes the modes for another process of the same binary.
std::string EncodeModes(const TerminalModes& modes);
// nullopt: invalid bytes.
std::optional<TerminalModes> DecodeModes(std::string_view bytes);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_TERMINAL_TERMINAL_MODES_H_
