#ifndef MUSTER_AGENT_WORKERS_WORKER_SPEC_H_
#define MUSTER_AGENT_WORKERS_WORKER_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster::agent {

// One process to start.
struct WorkerSpec {
  int local_rank = 0;
  // argv[0] is looked up in the worker's PATH when it holds no slash.
  std::vector<std::string> argv;
  // What differs from the agent's own environment: set (name, value) and
  // unset names.
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> unset;
  std::string working_directory;  // empty: the agent's
  // Logical CPUs that the worker is bound to; empty: as the agent.
  std::vector<int> cpus;
  // The NUMA node that its memory is taken from as long as there is some.
  std::optional<int> memory_node;
  // Signals that it ignores when it begins, until it takes them itself: bit
  // n - 1 is signal n. All others do what they do by default.
  uint64_t ignored_signals = 0;
  // Descriptors of this process that become the worker's stdin, stdout and
  // stderr; the caller closes them after Start. -1: /dev/null.
  int stdin_fd = -1;
  int stdout_fd = -1;
  int stderr_fd = -1;
  // stdin is a terminal, and becomes the controlling one of the worker's
  // session.
  bool controls_terminal = false;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_WORKERS_WORKER_SPEC_H_
