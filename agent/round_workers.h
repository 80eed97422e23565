#ifndef MUSTER_AGENT_ROUND_WORKERS_H_
#define MUSTER_AGENT_ROUND_WORKERS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/agent_options.h"
#include "agent/failures/error_file.h"
#include "agent/guardian/guardian.h"
#include "agent/lifecycle/lifecycle_step.h"
#include "agent/logs/log_relay.h"
#include "agent/progress/progress_sockets.h"
#include "agent/terminal/terminal_bridge.h"
#include "agent/workers/worker_environment.h"
#include "rendezvous/protocol/directive.h"

namespace muster::agent {

// This node's workers of the current round: starts them with their logs and
// environment, and converts their exits into lifecycle events. Not thread-safe.
class RoundWorkers {
 public:
  // All arguments must outlive this object. `on_notice` receives lines for the
  // user.
  RoundWorkers(const AgentOptions* options, Guardian* guardian, LogRelay* logs,
               const ProgressSockets* progress, TerminalBridge* terminal,
               std::function<void(const std::string&)> on_notice);

  // Asks the guardian (the workers' parent process) to start each of this
  // node's workers. `place`: this node's place in the round. Returns the
  // failures of workers whose start could not be requested, for instance
  // because no descriptor is free. The guardian reports later failures.
  // `common` has the paths that all workers share; Start adds each worker's own
  // paths.
  std::vector<WorkerDown> Start(const rendezvous::Place& place,
                                const WorkerPaths& common);

  // Records that this node has `place` in a new round, and makes the folders of
  // the round's workers, but starts no worker. Called instead of Start if the
  // workers could not use the round's store, or the encryption key is missing.
  void Refuse(const rendezvous::Place& place);

  // Converts the exit of a worker into a lifecycle event. `expired_timer`: if
  // the agent sent the worker a signal because a timer of the worker
  // (FileTimers) had expired, the name that the worker gave this timer; else
  // empty.
  WorkerDown Ended(const WorkerEnded& event,
                   const std::string& expired_timer) const;
  WorkerDown NotStarted(const WorkerNotStarted& event) const;

  // Writes the exits of this round's workers to the folder of the flight
  // records (the last operations of each rank), if this folder exists.
  // Unavailable: a write failed, and the message says why. DeadlineExceeded:
  // the file system does not answer.
  absl::Status Keep(const std::vector<rendezvous::Failure>& ends) const;

  // The folder of a worker's files; empty: there are no files.
  std::string FolderOf(int local_rank) const;
  // The folder of this round's flight records, which contain the last
  // operations of each rank; empty: no records are kept.
  std::string RecordsFolder() const;
  // Makes the event that answers a request for the stack of a worker that seems
  // to hang: it contains `stack` and the last lines of the worker's stderr.
  // Callable from any thread.
  StackTaken Hanging(int round, int local_rank,
                     std::vector<std::string> stack) const;

 private:
  void Begin(const rendezvous::Place& place);
  void PrepareFolders();
  rendezvous::Failure NewFailure(int local_rank) const;
  rendezvous::Failure NotStartable(int local_rank, absl::string_view why) const;
  std::optional<rendezvous::Failure> StartOne(int local_rank);
  // Sets the worker's stdin, and gives its pseudo-terminals to the
  // TerminalBridge.
  void GiveInput(int rank, LogRelay::Pipes& pipes, WorkerSpec& spec);
  std::vector<std::string> CommandOf(int local_rank) const;
  int Attempt() const;
  std::string ErrorFileOf(int local_rank) const;
  absl::StatusOr<ErrorFile> ReadInTime(const std::string& path) const;

  const AgentOptions* const options_;
  Guardian* const guardian_;
  LogRelay* const logs_;
  const ProgressSockets* const progress_;
  TerminalBridge* const terminal_;
  const std::map<std::string, std::string> inherited_;
  const uint64_t ignored_signals_;
  const std::function<void(const std::string&)> on_notice_;
  rendezvous::Place place_;
  // whether the log folders of this round's workers are ready; false if their
  // file system does not answer
  bool has_folders_ = true;
  WorkerPaths common_paths_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_ROUND_WORKERS_H_
