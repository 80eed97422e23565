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
  // Where this process is PID 1: a signalfd for SIGCHLD, since the orphans of
  // strangers come to it. Closed otherwise.
  OwnedFd strangers;
  // Children that this process had before, and their start times.
  std::vector<ProcessEntry> older_children;
};

// Makes this process a sub-reaper and forks the guardian, which goes on in
// RunGuardian. For a process with one thread. Internal: what failed.
absl::StatusOr<ForkedGuardian> ForkGuardian();

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_GUARDIAN_FORK_H_
