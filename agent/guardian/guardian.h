#ifndef MUSTER_AGENT_GUARDIAN_GUARDIAN_H_
#define MUSTER_AGENT_GUARDIAN_GUARDIAN_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/guardian/left_behind.h"
#include "agent/terminal/terminal_modes.h"
#include "agent/workers/worker_spec.h"

namespace muster::agent {

// What the guardian tells. Workers are named by local rank, which is taken
// again only after the earlier one's exit was told.
struct WorkerStarted {
  int local_rank = 0;
  pid_t pid = 0;
};
// The worker never ran: which step failed ("exec", "chdir", "fork", …) on
// which path with which errno.
struct WorkerNotStarted {
  int local_rank = 0;
  std::string step;
  std::string path;
  int error = 0;
};
struct WorkerEnded {
  int local_rank = 0;
  pid_t pid = 0;
  int wait_status = 0;     // as waitpid(2) gives it
  bool signalled = false;  // SignalAll or SignalOne reached it before its end
};
// No worker and no descendant of one is left, after at least one Start, whether
// it succeeded or not, and none is under way.
struct AllGone {
  std::vector<LeftBehind> left_behind;
};
// The guardian itself died; by the time of this event every worker and
// descendant has been killed and reaped by this process.
struct GuardianLost {
  std::string reason;
};

using GuardianEvent = std::variant<WorkerStarted, WorkerNotStarted, WorkerEnded,
                                   AllGone, GuardianLost>;

// The guardian is a single-threaded child of the agent, forked before any
// thread or gRPC exists. It is the workers' parent and a sub-reaper; the agent
// is a sub-reaper as well. Each holds one end of a socket to the other: when
// either dies, however it dies, the other kills what is left, grandchildren in
// sessions of their own included. (Killed in one instant, both leave workers
// that die by their parent-death signal, but not those workers' descendants.)
//
// After the guardian's death every child of this process counts as a worker's
// orphan, but those that were there before Fork and other guardians. Where this
// process is PID 1 it also reaps every orphan that comes to it.
//
// Not thread-safe.
class Guardian {
 public:
  // Forks the guardian. Call first thing in main, while the process has one
  // thread. Internal: fork, socketpair or prctl failed.
  static absl::StatusOr<std::unique_ptr<Guardian>> Fork();

  // Ends the guardian and every worker at once (SIGKILL), and reaps them. Takes
  // as long as they take to die, fifteen seconds at most.
  ~Guardian();

  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  // Asks for a worker; WorkerStarted or WorkerNotStarted follows. Each worker
  // leads a session and process group of its own and dies with its guardian.
  // InvalidArgument: what no process can be given (see start_command.h).
  // Unavailable: the guardian is gone; GuardianLost comes.
  absl::Status Start(const WorkerSpec& spec);

  // Sends `signal` to the process groups of all workers; with kEverything also
  // to descendants that left them. SIGCONT follows a signal that asks a process
  // to end (INT, TERM, HUP, QUIT): a stopped process would not take it. Nothing
  // happens where nothing is left.
  enum class Reach { kProcessGroups, kEverything };
  void SignalAll(int signal, Reach reach);
  // The same for the process group of one worker.
  void SignalOne(int local_rank, int signal);

  // Has the guardian remove `folder`, and the sockets in it, once this process
  // is gone, however it ends; takes the place of an earlier one.
  void RemoveAfterwards(const std::string& folder);

  // Has the guardian give `terminal` its modes back once this process is gone,
  // if it still has those that this process had set; takes the place of an
  // earlier one. Null: there is nothing to give back any more.
  void RestoreAfterwards(int terminal, const TerminalModes* modes);

  // Readable (poll) when Next has events. Level-triggered.
  int fd() const;
  // Every event that has come; does not block.
  std::vector<GuardianEvent> Next();

  pid_t pid() const;

 private:
  class Impl;
  explicit Guardian(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_GUARDIAN_H_
