#ifndef MUSTER_AGENT_ROUND_WORKERS_H_
#define MUSTER_AGENT_ROUND_WORKERS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/agent_options.h"
#include "agent/guardian/guardian.h"
#include "agent/lifecycle/lifecycle_step.h"
#include "agent/logs/log_relay.h"
#include "agent/progress/progress_sockets.h"
#include "agent/terminal/terminal_bridge.h"
#include "agent/workers/worker_environment.h"
#include "rendezvous/protocol/directive.h"

namespace muster::agent {

// This node's workers of the current round: starts them with their logs and
// environment, and tells each end in the lifecycle's terms. Not thread-safe.
class RoundWorkers {
 public:
  // All outlive this.
  RoundWorkers(const AgentOptions* options, Guardian* guardian, LogRelay* logs,
               const ProgressSockets* progress, TerminalBridge* terminal);

  // Asks the guardian for every worker of `place`. What failed before the
  // guardian could be asked (log folder, descriptors) comes back at once; the
  // rest comes through the guardian.
  // `common`: what they all find alike; the rest of it is put in here.
  std::vector<WorkerDown> Start(const rendezvous::Place& place,
                                const WorkerPaths& common);

  // The round of `place` begins, and none of its workers is started.
  void Refuse(const rendezvous::Place& place);

  // `expired_timer`: the timer for which the worker got a signal; empty: none.
  WorkerDown Ended(const WorkerEnded& event,
                   const std::string& expired_timer) const;
  WorkerDown NotStarted(const WorkerNotStarted& event) const;

  // Leaves how this round's workers ended beside their flight recorders, where
  // these are kept. Unavailable: why that failed.
  absl::Status Keep(const std::vector<rendezvous::Failure>& ends) const;

  // Where a worker's files are; empty if there are none.
  std::string FolderOf(int local_rank) const;
  // Where this round's flight recorders are kept; empty if they are not.
  std::string RecordsFolder() const;
  // What a worker that still runs has to say for itself, with its stack. From
  // any thread.
  StackTaken Hanging(int round, int local_rank,
                     std::vector<std::string> stack) const;

 private:
  void Begin(const rendezvous::Place& place);
  rendezvous::Failure NewFailure(int local_rank) const;
  rendezvous::Failure NotStartable(int local_rank, absl::string_view why) const;
  std::optional<rendezvous::Failure> StartOne(int local_rank);
  // What the worker reads from; tells the terminal of its pseudo-terminals.
  void GiveInput(int rank, LogRelay::Pipes& pipes, WorkerSpec& spec);
  std::vector<std::string> CommandOf(int local_rank) const;
  int Attempt() const;
  std::string ErrorFileOf(int local_rank) const;

  const AgentOptions* const options_;
  Guardian* const guardian_;
  LogRelay* const logs_;
  const ProgressSockets* const progress_;
  TerminalBridge* const terminal_;
  const std::map<std::string, std::string> inherited_;
  rendezvous::Place place_;
  WorkerPaths common_paths_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_ROUND_WORKERS_H_
