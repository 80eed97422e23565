#ifndef MUSTER_AGENT_GUARDIAN_GUARDIAN_FORK_H_
#define MUSTER_AGENT_GUARDIAN_GUARDIAN_FORK_H_

#include <sys/types.h>

#include <vector>

#include "absl/status/statusor.h"
#include "agent/guardian/descendants.h"
#include "base/owned_fd.h"

namespace muster::agent {

struct ForkedGuardian {
  pid_t pid = 0;
  OwnedFd socket;  // this process's end
  // If this process is PID 1: a signalfd for SIGCHLD, because orphans of other
  // programs become children of PID 1. Otherwise closed.
  OwnedFd strangers;
  // The children that this process had before the fork, with their start times.
  std::vector<ProcessEntry> older_children;
};

// Makes this process a sub-reaper and forks the guardian, which continues in
// RunGuardian. For a process with one thread. Internal: names the step that
// failed.
absl::StatusOr<ForkedGuardian> ForkGuardian();

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_GUARDIAN_FORK_H_
