#ifndef MUSTER_AGENT_TERMINAL_TERMINAL_MODES_H_
#define MUSTER_AGENT_TERMINAL_TERMINAL_MODES_H_

#include <termios.h>

#include <optional>
#include <string>
#include <string_view>

namespace muster::agent {

// A terminal's modes before and while its keys go to a worker.
struct TerminalModes {
  termios before = {};
  // No echo, no line editing, no flow control: the worker's terminal does all
  // of it. Ctrl-C, Ctrl-\ and Ctrl-Z still signal this side, and output is
  // still processed, so that lines of our own come out whole.
  termios forwarding = {};
};

// The modes that `fd` has now as `before`. Nothing: `fd` is no terminal.
std::optional<TerminalModes> ReadTerminalModes(int fd);

// Whether `fd` has exactly the modes `modes`.
bool HasModes(int fd, const termios& modes);

// Of bytes that were typed while the terminal's modes were `before` and are
// read in other modes: turns the marks of the end of input back into the
// character that was typed. Linux keeps that character as a NUL byte, once
// lines are no longer its own business, and delivers it like a typed Ctrl-@.
void RestoreTypedEnds(const termios& before, std::string& typed);

// Sets the modes of `fd` at once; a caller in the background is not stopped for
// it (SIGTTOU), and may fail.
bool SetModes(int fd, const termios& modes);

// As bytes, for another process of the same binary.
std::string EncodeModes(const TerminalModes& modes);
// Nothing: these are no such bytes.
std::optional<TerminalModes> DecodeModes(std::string_view bytes);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_TERMINAL_TERMINAL_MODES_H_
