#ifndef MUSTER_AGENT_WORKERS_WORKER_SPEC_H_
#define MUSTER_AGENT_WORKERS_WORKER_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster::agent {

// The description of a worker process to start.
struct WorkerSpec {
  int local_rank = 0;
  // Program and arguments. argv[0] without a slash is searched in the worker's
  // PATH.
  std::vector<std::string> argv;
  // The worker's environment is the agent's with these changes. environment:
  // names and values to set. unset: names to remove.
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> unset;
  // the worker's working directory; empty: the agent's
  std::string working_directory;
  // Logical CPUs to which the worker is bound; empty: it may use the agent's
  // CPUs.
  std::vector<int> cpus;
  // The NUMA node from which the worker prefers to get memory; nullopt: no
  // preference.
  std::optional<int> memory_node;
  // Signals that the worker ignores at its start: bit n - 1 is signal n. All
  // other signals have their default disposition.
  uint64_t ignored_signals = 0;
  // Descriptors of the agent that become the worker's stdin, stdout and stderr;
  // the caller closes them after Start. -1: /dev/null.
  int stdin_fd = -1;
  int stdout_fd = -1;
  int stderr_fd = -1;
  // Descriptor of the agent's pipe from which the worker reads the channel key.
  // The worker inherits the descriptor under the same number, which it finds in
  // kChannelKeyVariable. The caller closes the descriptor after Start. -1: no
  // pipe.
  int key_fd = -1;
  // Whether stdin is a terminal that becomes the controlling terminal of the
  // worker's session.
  bool controls_terminal = false;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_WORKERS_WORKER_SPEC_H_
