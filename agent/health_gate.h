#ifndef MUSTER_AGENT_HEALTH_GATE_H_
#define MUSTER_AGENT_HEALTH_GATE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/commands/timed_task.h"
#include "base/time.h"

namespace muster::agent {

// Checks whether this node is healthy enough for a round: runs the built-in
// checks and the user's command, in threads of its own. The lifecycle decides
// when to check, and uses the result. Not thread-safe.
class HealthGate {
 public:
  struct Options {
    std::string command;  // command run by `sh -c`; empty: no command
    // environment of the command, "NAME=value"
    std::vector<std::string> environment;
    // the built-in checks; empty: no checks
    std::function<absl::Status()> built_in;
    // time limit of the built-in checks, and also of the command
    Duration timeout = std::chrono::seconds(60);
  };
  explicit HealthGate(Options options);

  // Starts a check, and cancels an earlier one. Another thread calls `found`
  // with the result. `unhealthy` is one line that says why the node is
  // unhealthy; "" means healthy. The call comes at most 2 * Options::timeout +
  // 2 s after the start, because the built-in checks and the command have this
  // time limit each. After Drop or another Check, `found` is not called.
  void Check(std::function<void(std::string unhealthy)> found);

  // Cancels a running check; its result is discarded.
  void Drop();

 private:
  const Options options_;
  TimedTask task_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_GATE_H_
