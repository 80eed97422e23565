#ifndef MUSTER_AGENT_LIFECYCLE_LIFECYCLE_STEP_H_
#define MUSTER_AGENT_LIFECYCLE_LIFECYCLE_STEP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "agent/guardian/left_behind.h"
#include "agent/lifecycle/hang_watch.h"
#include "agent/progress/progress_message.h"
#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::agent {

// The structs from here on are events of an agent. This event: the connection
// to the coordinator is up.
struct LinkUp {
  std::string own_address;  // the local address of the connection; may be empty
  std::vector<std::string> addresses;  // Report::addresses
  // The endpoint that answered, HOST:PORT; empty: unknown.
  std::string coordinator;
};
struct LinkDown {
  absl::Status why;
};
struct DirectiveCame {
  rendezvous::Directive directive;
};
struct WorkerUp {
  int local_rank = 0;
  int64_t pid = 0;
};
// A worker ended, or could not be started (kStartFailed). No failure: the
// worker exited with 0.
struct WorkerDown {
  int local_rank = 0;
  std::optional<rendezvous::Failure> failure;
  // Whether the worker ended before any signal was sent to it.
  bool by_itself = false;
  // The age of the exception in the worker's error file, if there is one.
  std::optional<Duration> recorded_ago;
};
// No worker of the round can be started: the node cannot serve the round.
struct RoundRefused {
  std::string why;  // one sentence, which names the host
};
// No worker and no descendant of a worker is left.
struct WorkersGone {
  // descendants that outlived their workers and were stopped
  std::vector<LeftBehind> left_behind;
};
// The guardian is dead: no worker can be started any more, and the running ones
// were killed.
struct GuardianDied {
  std::string reason;
};
struct SignalCaught {
  int signal = 0;
};
// The driver holds this port free for the next round.
struct PortHeld {
  int port = 0;
};
// The driver holds this NCCL id for the next round; the process of its root
// runs.
struct NcclIdReady {
  std::string id;
};
// No NCCL id is available. `why` is a sentence for the user; may be empty.
struct NcclIdMissing {
  std::string why;
};
// The process that was the root of the current round's NCCL id has died on this
// node. `what` is a sentence for the user.
struct NcclRootLost {
  std::string what;
};
// Progress reports of workers of the current round. All reports that can be
// read at this moment come in one event: after a suspension of this process,
// with one event each, the last workers would seem silent.
struct WorkersReported {
  std::vector<WorkerSaid> said;
};
// The answer to LookAtWorkers: the states of the workers' processes.
struct WorkersSeen {
  struct Worker {
    int local_rank = 0;
    WorkerState state = WorkerState::kOther;
  };
  int round = 0;
  std::vector<Worker> workers;
  std::string records;  // the folder for `launch inspect`; empty: none
};
// The answer to TakeStacks: the first worker's stack and the end of its stderr.
struct StackTaken {
  int round = 0;
  int local_rank = 0;
  std::vector<std::string> stack;  // lines, bounded as in Failure
  std::vector<std::string> stderr_tail;
  double unix_time = 0;
};
// The preemption file is written, and the user's command has ended (the answer
// to AnnouncePreemption).
struct PreemptionAnnounced {};
// The result of StartCheck with this number; an empty `unhealthy`: the node is
// healthy.
struct HealthChecked {
  uint64_t check = 0;
  std::string unhealthy;
};
struct ClockTicked {};

using LifecycleEvent =
    std::variant<LinkUp, LinkDown, DirectiveCame, WorkerUp, WorkerDown,
                 RoundRefused, WorkersGone, GuardianDied, SignalCaught,
                 PortHeld, NcclIdReady, NcclIdMissing, NcclRootLost,
                 WorkersReported, WorkersSeen, StackTaken, PreemptionAnnounced,
                 HealthChecked, ClockTicked>;

// The structs from here on are actions that the agent's driver performs. This
// action: start the workers of a round.
struct StartWorkers {
  rendezvous::Place place;
};
struct SignalWorkers {
  int signal = 0;
  // Also signal descendants that left their worker's process group.
  bool everything = false;
  // Signal only the process group of the worker with this local rank.
  std::optional<int> local_rank;
};
// Read the state of these workers' processes: a stopped process explains a
// silence. The driver answers at once with WorkersSeen.
struct LookAtWorkers {
  struct Worker {
    int local_rank = 0;
    int64_t pid = 0;
  };
  int round = 0;
  std::vector<Worker> workers;
};
// Read the stacks of these workers before any of them is killed. The first one
// is suspected to hang; the others may wait for it. StackTaken follows for the
// first.
struct TakeStacks {
  struct Worker {
    int local_rank = 0;
    int64_t pid = 0;
  };
  int round = 0;
  std::vector<Worker> workers;  // at most kMaxStacks
};
inline constexpr size_t kMaxStacks = 8;
// Close the round's store: the round is broken, and its waiting clients must
// fail.
struct CloseStore {
  std::string reason;
};
// Replace the NCCL id that this node holds: the id may have been used.
struct RenewNcclId {};
// Announce a preemption to the workers by the preemption file, and run the
// user's command (--on-preempt). PreemptionAnnounced follows when both are
// done.
struct AnnouncePreemption {
  rendezvous::PreemptionNotice notice;
};
// Stop the user's command of AnnouncePreemption.
struct EndAnnouncement {
  std::string why;
};
// Start a health check of this node, in place of an earlier one. HealthChecked
// with the same number follows.
struct StartCheck {
  uint64_t check = 0;
};
// Cancel the health check: its result is no longer needed, and it must not
// compete with the workers.
struct DropCheck {};
// End the agent: every worker has ended.
struct Leave {
  int exit_code = 0;
  // The job has succeeded, and this agent never ran a worker for it.
  bool never_ran = false;
  // Whether this node acts for the whole job (Directive::acts_for_job).
  bool acts_for_job = false;
  std::optional<rendezvous::Verdict> verdict;
  std::string reason;
};

// Disconnect, and connect to another coordinator.
struct Reconnect {
  Duration pause = Duration::zero();  // time between the two
  // The endpoint to begin with, HOST:PORT; empty: the next one.
  std::string endpoint;
};

struct LifecycleStep {
  // The actions, in the order in which they must be performed.
  std::vector<std::variant<StartWorkers, SignalWorkers, CloseStore, RenewNcclId,
                           LookAtWorkers, TakeStacks, AnnouncePreemption,
                           EndAnnouncement, StartCheck, DropCheck>>
      actions;
  // to be sent to the coordinator
  std::optional<rendezvous::Report> report;
  std::optional<Reconnect> reconnect;
  // The endpoints of the standbys, if they have changed: where the coordinator
  // is looked for, besides the configured endpoints, once it is lost.
  std::optional<std::vector<std::string>> standbys;
  // The ends of all workers so far in a round that is breaking, in order,
  // without the last lines of output; to be written beside the flight records.
  // Empty: unchanged since the last step.
  std::vector<rendezvous::Failure> ends;
  // lines for the user, not printed with --quiet
  std::vector<std::string> notices;
  // lines for the user, printed with --quiet as well
  std::vector<std::string> losses;
  std::optional<Leave> leave;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_LIFECYCLE_STEP_H_
