#ifndef MUSTER_AGENT_COMMANDS_TOOL_RUN_H_
#define MUSTER_AGENT_COMMANDS_TOOL_RUN_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/time.h"

namespace muster::agent {

struct ToolRequest {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH
  // "NAME=value", on top of this process's own.
  std::vector<std::string> environment;
  Instant deadline;
  int cancel_fd = -1;
  size_t max_bytes = 1 << 16;
  // What becomes of one that says more than `max_bytes`: it is killed, or only
  // its last words are kept.
  enum class Excess { kCutOff, kForget } excess = Excess::kCutOff;
  // What it finds as its standard input; -1: nothing (/dev/null).
  int stdin_fd = -1;
  std::vector<int> blocked_signals;  // when it begins
};

struct ToolOutcome {
  enum class End {
    kSucceeded,   // exit code 0
    kFailed,      // any other end
    kNotStarted,  // it is not there, or cannot be executed
    kCutOff,      // killed: at the deadline, for its length or by the canceller
  };
  End end = End::kNotStarted;
  std::string output;   // stdout and stderr, at most `max_bytes`
  int wait_status = 0;  // kFailed: as waitpid(2) gives it, where it is known
};

// Runs a program in a process group of its own that is killed at the deadline,
// when it has said too much or when `cancel_fd` turns readable. Nothing of it
// is left when this returns, but for what left its process group. For any
// thread of any program: it does not fork by itself.
ToolOutcome RunTool(const ToolRequest& request);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_COMMANDS_TOOL_RUN_H_
