#ifndef MUSTER_AGENT_COMMANDS_TOOL_RUN_H_
#define MUSTER_AGENT_COMMANDS_TOOL_RUN_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"

namespace muster::agent {

struct ToolRequest {
  std::vector<std::string> argv;  // argv[0] without a slash is searched in PATH
  // Variables as "NAME=value", in addition to this process's environment.
  std::vector<std::string> environment;
  Instant deadline;
  int cancel_fd = -1;
  size_t max_bytes = 1 << 16;
  // The treatment of output beyond `max_bytes`: kCutOff kills the tool, kForget
  // keeps only the end of the output.
  enum class Excess { kCutOff, kForget } excess = Excess::kCutOff;
  // The tool's standard input; -1: /dev/null.
  int stdin_fd = -1;
  // signals that are blocked in the tool's initial signal mask
  std::vector<int> blocked_signals;
};

struct ToolOutcome {
  enum class End {
    kSucceeded,  // the tool exited with 0
    // the tool exited with another code than 0, was killed by a signal, or its
    // wait status is unknown
    kFailed,
    kNotStarted,  // the tool's program does not exist, or cannot be executed
    // RunTool killed the tool: deadline, too much output or cancellation
    kCutOff,
  };
  End end = End::kNotStarted;
  std::string output;  // stdout and stderr together, at most `max_bytes`
  // with kFailed: status as returned by waitpid(2), if known
  int wait_status = 0;
};

// Runs a program in a process group of its own until the program exits. Kills
// it earlier if the deadline passes, the output is too long (Excess::kCutOff),
// or `cancel_fd` becomes readable. In every case, all processes that are left
// in the group are killed before RunTool returns. Callable from any thread.
ToolOutcome RunTool(const ToolRequest& request);

// A shell command of the user, which is run by `sh -c`.
struct ShellCommand {
  std::string command;
  // variables as "NAME=value", in addition to this process's environment
  std::vector<std::string> environment;
  Duration timeout = std::chrono::seconds(60);
  // descriptor that cancels the command once it is readable; -1: none
  int cancel_fd = -1;
  // signals ignored by the command and its children
  std::vector<int> ignored_signals;
};

// Runs the command in a process group of its own. The group is killed at the
// deadline, on cancellation, after the command's end, and if this process dies
// for any reason. Callable from any thread. The error message is one line for
// the user: the command's last line, or how it ended.
//
//   FailedPrecondition  an exit code other than 0, or killed by a signal
//   DeadlineExceeded    the deadline passed
//   Cancelled           `cancel_fd` became readable
//   Unavailable         the shell could not be started
absl::Status RunShellCommand(const ShellCommand& command);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_COMMANDS_TOOL_RUN_H_
