#ifndef MUSTER_AGENT_TERMINAL_TERMINAL_MODES_H_
#define MUSTER_AGENT_TERMINAL_TERMINAL_MODES_H_

#include <termios.h>

#include <optional>
#include <string>
#include <string_view>

namespace muster::agent {

// The modes of a terminal before its keys are forwarded to a worker, and during
// the forwarding.
struct TerminalModes {
  termios before = {};
  // Modes without echo, line editing and flow control, because the worker's
  // terminal does these. Ctrl-C, Ctrl-\ and Ctrl-Z still signal this process,
  // and output is still processed, so that Muster's own lines are correct.
  termios forwarding = {};
};

// Reads the current modes of `fd` into `before`, and derives `forwarding`.
// nullopt: `fd` is no terminal.
std::optional<TerminalModes> ReadTerminalModes(int fd);

// Whether `fd` is a terminal whose modes are exactly `modes`.
bool HasModes(int fd, const termios& modes);

// Restores the end-of-input characters in bytes that were typed in the modes
// `before` and are read in raw modes. Linux stores such a character as a NUL
// byte, and delivers it in raw modes like a typed Ctrl-@.
void RestoreTypedEnds(const termios& before, std::string& typed);

// Sets the modes of the terminal `fd` at once; returns false on failure. The
// kernel does not stop a caller in the background, because SIGTTOU is blocked
// during the call.
bool SetModes(int fd, const termios& modes);

// Encodes the modes for another process of the same binary.
std::string EncodeModes(const TerminalModes& modes);
// Decodes modes from EncodeModes. nullopt: invalid bytes.
std::optional<TerminalModes> DecodeModes(std::string_view bytes);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_TERMINAL_TERMINAL_MODES_H_
