#ifndef MUSTER_AGENT_GUARDIAN_GUARDIAN_H_
#define MUSTER_AGENT_GUARDIAN_GUARDIAN_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/gpus/job_files.h"
#include "agent/guardian/left_behind.h"
#include "agent/terminal/terminal.h"
#include "agent/workers/worker_spec.h"

namespace muster::agent {

// An event of the guardian: a worker was started. In all events the local rank
// identifies a worker. A local rank is used again only after the exit of its
// earlier worker was reported.
struct WorkerStarted {
  int local_rank = 0;
  pid_t pid = 0;
};
// Event: a worker could not be started. Contains the failed step ("exec",
// "chdir", "fork", …), the path and errno.
struct WorkerNotStarted {
  int local_rank = 0;
  std::string step;
  std::string path;
  int error = 0;
};
struct WorkerEnded {
  int local_rank = 0;
  pid_t pid = 0;
  int wait_status = 0;  // status as returned by waitpid(2)
  // whether SignalAll or SignalOne reached the worker before its exit
  bool signalled = false;
};
// Event: no worker and no descendant of a worker is left, and no start is in
// progress. Reported after at least one Start, successful or not.
struct AllGone {
  std::vector<LeftBehind> left_behind;
};
// Event: the guardian has died. Before this event the agent kills and reaps all
// workers and their descendants; `reason` names those that did not die.
struct GuardianLost {
  std::string reason;
};

using GuardianEvent = std::variant<WorkerStarted, WorkerNotStarted, WorkerEnded,
                                   AllGone, GuardianLost>;

// The workers' parent process: a single-threaded child of the agent, forked
// before any thread or gRPC exists. Guardian and agent are both sub-reapers,
// and each holds one end of a socket to the other. If one of the two dies for
// any reason, the other one kills all remaining processes, including
// grandchildren in sessions of their own. (If both are killed at the same time,
// the parent-death signal kills the workers, but the workers' descendants
// survive.)
//
// After the guardian's death every child of the agent counts as a worker's
// orphan, except children that existed before Fork and other guardians. If the
// agent is PID 1, it also reaps every orphan of the container.
//
// Not thread-safe.
class Guardian {
 public:
  // Forks the guardian. Must be called at the beginning of main, while the
  // process has one thread. Internal: fork, socketpair or prctl failed.
  static absl::StatusOr<std::unique_ptr<Guardian>> Fork();

  // Kills (SIGKILL) and reaps the guardian and every worker. Waits at most
  // seventeen seconds until they are dead.
  ~Guardian();

  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  // Requests the start of a worker; WorkerStarted or WorkerNotStarted follows.
  // Each worker leads its own session and process group and dies with its
  // guardian. InvalidArgument: an argument or variable that execve(2) cannot
  // pass (see EncodeStart). Unavailable: the guardian is gone; GuardianLost
  // follows.
  absl::Status Start(const WorkerSpec& spec);

  // The processes to which SignalAll sends `signal`. kProcessGroups: the
  // process groups of all workers. kEverything: also descendants of workers
  // that left these groups.
  //
  // SignalAll also sends SIGCONT after a terminating signal (INT, TERM, HUP,
  // QUIT), because a stopped process would not handle the signal. SignalAll has
  // no effect if no process is left.
  enum class Reach { kProcessGroups, kEverything };
  void SignalAll(int signal, Reach reach);
  // Sends `signal` to the process group of one worker. If the signal is a
  // terminating one, sends SIGCONT after it, because a stopped process would
  // not handle the signal.
  void SignalOne(int local_rank, int signal);

  // Makes the guardian remove `folder`, and the sockets in it, after the agent
  // has ended in any way. Replaces the folder of an earlier call.
  void RemoveAfterwards(const std::string& folder);

  // Makes the guardian call RemoveJobFiles for `files` after the agent has
  // ended in any way. Replaces the files of an earlier call.
  void RemoveAfterwards(const JobFiles& files);

  // Makes the guardian restore the modes of `terminal` after the end of the
  // agent, if the terminal still has the modes that the agent had set. Replaces
  // the terminal of an earlier call. With null `modes` nothing is restored.
  void RestoreAfterwards(int terminal, const TerminalModes* modes);

  // The number of notices that Next has received from the guardian, including
  // the notices that only show that the guardian lives.
  uint64_t signs_of_life() const;
  // Kills (SIGKILL) a guardian that no longer answers, and the workers with it;
  // GuardianLost follows. `why` completes a message that begins with "the
  // guardian", such as "gave no sign of life for 10 s". No effect if the
  // guardian is already lost.
  void Abandon(const std::string& why);

  // A descriptor for poll(): readable, level-triggered, when Next has events.
  int fd() const;
  // Returns all events that have arrived; does not block.
  std::vector<GuardianEvent> Next();

  pid_t pid() const;

 private:
  class Impl;
  explicit Guardian(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_GUARDIAN_H_
