#ifndef MUSTER_AGENT_COMMANDS_SHELL_COMMAND_H_
#define MUSTER_AGENT_COMMANDS_SHELL_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"

namespace muster::agent {

// A command of the user, for `sh -c`.
struct ShellCommand {
  std::string command;
  // "NAME=value", in addition to this process's own
  std::vector<std::string> environment;
  Duration timeout = std::chrono::seconds(60);
  int cancel_fd = -1;                // cancels the command once it is readable
  std::vector<int> ignored_signals;  // ignored by the command and its children
};

// Runs the command in a process group of its own, which is killed at the
// deadline, on cancellation, after the command's end, and if this process dies
// for any reason. Any thread. The error message is one line for the user: the
// command's last line, or how it ended.
//
//   FailedPrecondition  an exit code other than 0, or killed by a signal
//   DeadlineExceeded    the deadline passed
//   Cancelled           `cancel_fd` became readable
//   Unavailable         the shell could not be started
absl::Status RunShellCommand(const ShellCommand& command);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_COMMANDS_SHELL_COMMAND_H_
