#ifndef MUSTER_AGENT_GUARDIAN_SPAWN_H_
#define MUSTER_AGENT_GUARDIAN_SPAWN_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent/guardian/exec_program.h"
#include "agent/guardian/start_retry.h"
#include "base/owned_fd.h"

namespace muster::agent {

// Binds this single-threaded process and its future children to the logical
// CPUs `cpus`. Returns 0, or errno: EINVAL if the process may use none of these
// CPUs (offline, or outside of its cgroup).
int BindToCpus(const std::vector<int>& cpus);

// Makes this process and its future children take memory from NUMA node
// `numa_node` as long as the node has free memory. The kernel may refuse this,
// for instance because of a container's seccomp profile. Memory then comes from
// the node of the CPU that first touches it, which is `numa_node` if the
// process is bound to the CPUs of that node.
void PreferMemoryOf(int numa_node);

struct SpawnRequest {
  std::vector<std::string> argv;
  // the complete environment, each "NAME=value"
  std::vector<std::string> environment;
  std::string working_directory;  // empty: the parent's directory
  // CPUs to which the child is bound, ascending; empty: it is not bound
  std::vector<int> cpus;
  // NUMA node from which the child prefers to take memory; nullopt: no
  // preference
  std::optional<int> memory_node;
  // Whether the guardian has executed the program argv[0] before. If so, a
  // missing program file counts as a temporary failure, after which the child
  // tries again (IsPassing).
  SeenBefore seen = SeenBefore::kNo;
  // signals ignored by the child: bit n - 1 is signal n
  uint64_t ignored_signals = 0;
  int stdin_fd = -1;   // the child's stdin; -1: this process's own stdin
  int stdout_fd = -1;  // the child's stdout; -1: this process's own stdout
  int stderr_fd = -1;  // the child's stderr; -1: this process's own stderr
  // the pipe with the round's encryption key (--encrypt=workers), which the
  // child inherits under the same number; -1: none
  int key_fd = -1;
  // whether stdin becomes the child's controlling terminal
  bool controls_terminal = false;
};

// The result of Spawn: a child process that will execute its program.
struct Spawned {
  pid_t pid = 0;
  // A descriptor that becomes readable once the child has executed its program
  // or failed to do so. End of file: the program was executed. Data:
  // ReadStartFailure returns the reason of the failure.
  OwnedFd outcome;
};

// Forks a child that executes the program. The child leads its own session, and
// dies (SIGKILL) with the calling thread. The child has default signal
// dispositions except for `ignored_signals`, and an empty signal mask. The
// child has no descriptors besides 0, 1, 2 and `key_fd`. Does not wait: if the
// program's file system hangs, only the child blocks. For a single-threaded
// process with open descriptors 0, 1 and 2.
std::variant<Spawned, StartFailure> Spawn(const SpawnRequest& request);

// Sends `signal` to the process group that a spawned child leads. The group
// exists once the child has called setsid. While `outcome` (Spawned::outcome)
// is open, the child may not have called setsid yet. The function then waits up
// to a second for the group, so that the signal is not lost. If there is still
// no group, only the child gets the signal.
void SignalGroup(pid_t child, const OwnedFd& outcome, int signal);

// The reason why the child could not execute its program; nullopt if the
// program runs. Call it once `outcome` is readable or the child has been
// reaped; does not block then.
std::optional<StartFailure> ReadStartFailure(const OwnedFd& outcome);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_SPAWN_H_
