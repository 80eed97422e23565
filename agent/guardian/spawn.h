#ifndef MUSTER_AGENT_GUARDIAN_SPAWN_H_
#define MUSTER_AGENT_GUARDIAN_SPAWN_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent/guardian/exec_program.h"
#include "base/owned_fd.h"

namespace muster::agent {

struct SpawnRequest {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // whole, "NAME=value"
  std::string working_directory;         // empty: this process's
  std::vector<int> cpus;                 // ascending; empty: not bound
  std::optional<int> memory_node;        // see bind_process.h
  uint64_t ignored_signals = 0;          // bit n - 1 is signal n
  int stdin_fd = -1;                     // -1: as this process's
  int stdout_fd = -1;                    // -1: as this process's
  int stderr_fd = -1;                    // -1: as this process's
  bool controls_terminal = false;        // stdin becomes its controlling one
};

// A child that is on its way to its program.
struct Spawned {
  pid_t pid = 0;
  // Readable once the child has come to its program (end of file) or failed to
  // (then ReadStartFailure has it).
  OwnedFd outcome;
};

// Forks a child that leads a session of its own, dies (SIGKILL) with this
// thread, has default signal dispositions but for what it is to ignore, an
// empty signal mask and no descriptor besides 0, 1 and 2, and that executes the
// program.
// Does not wait: executing from a file system that hangs blocks the child
// alone. For a single-threaded process whose 0, 1 and 2 are open.
std::variant<Spawned, StartFailure> Spawn(const SpawnRequest& request);

// Sends `signal` to the process group that a spawned child leads. A child whose
// outcome is still open may not have come to make its session: then this waits
// until it has, a second at most, so that no signal is lost between fork and
// setsid. After that second the signal goes to the child alone.
void SignalGroup(pid_t child, const OwnedFd& outcome, int signal);

// What stopped the child, or nothing if its program runs. To be called once the
// descriptor is readable or the child has been reaped; does not block then.
std::optional<StartFailure> ReadStartFailure(const OwnedFd& outcome);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_SPAWN_H_
