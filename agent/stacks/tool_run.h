#ifndef MUSTER_AGENT_STACKS_TOOL_RUN_H_
#define MUSTER_AGENT_STACKS_TOOL_RUN_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/time.h"

namespace muster {

struct ToolOutcome {
  enum class End {
    kSucceeded,   // exit code 0
    kFailed,      // any other end
    kNotStarted,  // it is not there, or cannot be executed
    kCutOff,      // killed: at the deadline, for its length or by the canceller
  };
  End end = End::kNotStarted;
  std::string output;  // stdout and stderr, at most `most_bytes`
};

// Runs argv[0], looked up in PATH, with nothing at stdin, in a process group of
// its own that is killed at `deadline`, when it has said more than `most_bytes`
// or when `cancel_fd` turns readable. Nothing of it is left when this returns,
// but for what left its process group. For any thread of any program: it does
// not fork by itself.
ToolOutcome RunTool(const std::vector<std::string>& argv, Instant deadline,
                    int cancel_fd, size_t most_bytes);

}  // namespace muster

#endif  // MUSTER_AGENT_STACKS_TOOL_RUN_H_
