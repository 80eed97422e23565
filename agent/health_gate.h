#ifndef MUSTER_AGENT_HEALTH_GATE_H_
#define MUSTER_AGENT_HEALTH_GATE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/commands/timed_task.h"
#include "base/time.h"

namespace muster::agent {

// Looks whether this node is healthy enough for a round, by a person's command
// and by built-in checks, beside the agent's loop. When that is done, and what
// follows from it, the lifecycle decides. Not thread-safe.
class HealthGate {
 public:
  struct Options {
    std::string command;                     // for `sh -c`; empty: none
    std::vector<std::string> environment;    // "NAME=value", for the command
    std::function<absl::Status()> built_in;  // empty: none
    Duration timeout = std::chrono::seconds(60);  // of each of the two
  };
  explicit HealthGate(Options options);

  // `found` is told, from another thread, why the node is not fit (one line),
  // or "" if it is; not after Drop or another Check. Whatever a check does, it
  // is told within little more than its timeout.
  void Check(std::function<void(std::string unhealthy)> found);

  // Ends what is under way.
  void Drop();

 private:
  const Options options_;
  TimedTask task_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_GATE_H_
