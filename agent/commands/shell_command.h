#ifndef MUSTER_AGENT_COMMANDS_SHELL_COMMAND_H_
#define MUSTER_AGENT_COMMANDS_SHELL_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"

namespace muster::agent {

// A command that a person has given, for `sh -c`.
struct ShellCommand {
  std::string command;
  std::vector<std::string> environment;  // "NAME=value", on top of our own
  Duration timeout = std::chrono::seconds(60);
  int cancel_fd = -1;                // ends it once it is readable
  std::vector<int> ignored_signals;  // by it and by what it starts
};

// Runs it in a process group of its own that is killed when its time is over,
// when it is cancelled, when it has ended, and when this process dies, however
// that dies. From any thread. The error's message is one line for a person, the
// last that the command has said or how it ended:
//
//   FailedPrecondition  another exit code than 0, or killed by a signal
//   DeadlineExceeded    its time was over
//   Cancelled           `cancel_fd` has become readable
//   Unavailable         no shell could be started
absl::Status RunShellCommand(const ShellCommand& command);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_COMMANDS_SHELL_COMMAND_H_
