#ifndef MUSTER_AGENT_GUARDIAN_LEFT_BEHIND_H_
#define MUSTER_AGENT_GUARDIAN_LEFT_BEHIND_H_

#include <string>

namespace muster::agent {

// A process that a worker started, that outlived the worker, and that Muster
// stopped.
struct LeftBehind {
  int rank = -1;  // value of RANK in its environment; -1: unknown
  // the process's command name in /proc/<pid>/comm, at most 15 bytes
  std::string name;

  bool operator==(const LeftBehind&) const = default;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_LEFT_BEHIND_H_
