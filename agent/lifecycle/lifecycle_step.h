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

// Event: the connection to the coordinator is up. The structs from LinkUp to
// ClockTicked are events that an agent's state machine handles.
struct LinkUp {
  std::string own_address;  // the local address of the connection; may be empty
  // IP addresses of this node's interfaces, for Report::addresses
  std::vector<std::string> addresses;
  // The coordinator's endpoint that answered, HOST:PORT; empty: unknown.
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
// Event: a worker exited, or could not be started (kStartFailed). If `failure`
// is nullopt, the worker exited with 0.
struct WorkerDown {
  int local_rank = 0;
  std::optional<rendezvous::Failure> failure;
  // Whether the worker exited before any signal was sent to it.
  bool by_itself = false;
  // The time since the exception in the worker's error file was raised;
  // nullopt: there is no such file.
  std::optional<Duration> recorded_ago;
};
// Event: no worker of the round is started, because the workers of this node
// cannot use the round's store, or the round's encryption key is missing.
struct RoundRefused {
  // why the workers cannot be started: one sentence that names the host
  std::string why;
};
// Event: no worker and no descendant of a worker is left.
struct WorkersGone {
  // descendants that outlived their workers and were stopped
  std::vector<LeftBehind> left_behind;
};
// Event: the guardian is dead. No worker can be started any more, and the
// running ones were killed.
struct GuardianDied {
  std::string reason;
};
struct SignalCaught {
  int signal = 0;
};
// Event: this node has reserved a TCP port for the store of the next round.
struct PortHeld {
  int port = 0;
};
// Event: this node has an NCCL id for the next round, and the id's root process
// is running.
struct NcclIdReady {
  std::string id;
};
// Event: no NCCL id is available. `why` is a sentence for the user; may be
// empty.
struct NcclIdMissing {
  std::string why;
};
// Event: the root process of the current round's NCCL id, on this node, has
// died. `what` is a sentence for the user.
struct NcclRootLost {
  std::string what;
};
// Event: progress reports of workers of the current round. One event contains
// all reports that can be read at this moment. With one event for each report,
// a worker whose report is handled last would seem silent after a suspension of
// the agent.
struct WorkersReported {
  std::vector<WorkerSaid> said;
};
// Event: the answer to LookAtWorkers, with the states of the workers'
// processes.
struct WorkersSeen {
  struct Worker {
    int local_rank = 0;
    WorkerState state = WorkerState::kOther;
  };
  int round = 0;
  std::vector<Worker> workers;
  std::string records;  // folder of the flight records; empty: none
};
// Event: the answer to TakeStacks. It contains the stack of the suspected
// worker (the first in TakeStacks::workers) and the end of the worker's stderr.
struct StackTaken {
  int round = 0;
  int local_rank = 0;
  std::vector<std::string> stack;  // lines of the stack, bounded as in Failure
  std::vector<std::string> stderr_tail;
  double unix_time = 0;
};
// Event: the answer to AnnouncePreemption. The preemption file is written, and
// the user's command has ended.
struct PreemptionAnnounced {};
// Event: the result of the StartCheck with this number; an empty `unhealthy`
// means that the node is healthy.
struct HealthChecked {
  uint64_t check = 0;
  std::string unhealthy;
};
// Event: a fault of this node that its agent has seen, such as an XID of the
// NVIDIA driver; reported to the coordinator, which remembers it (NodeMemory).
struct NodeFaultSeen {
  rendezvous::FaultKind kind = rendezvous::FaultKind::kXid;
  std::string text;  // description of the fault in one line
};
// Event: the connection to another node was measured, as MeasurePair requested,
// or the measurement failed.
struct PairMeasured {
  rendezvous::PairMeasurement measurement;
};
struct ClockTicked {};

using LifecycleEvent =
    std::variant<LinkUp, LinkDown, DirectiveCame, WorkerUp, WorkerDown,
                 RoundRefused, WorkersGone, GuardianDied, SignalCaught,
                 PortHeld, NcclIdReady, NcclIdMissing, NcclRootLost,
                 WorkersReported, WorkersSeen, StackTaken, PreemptionAnnounced,
                 HealthChecked, NodeFaultSeen, PairMeasured, ClockTicked>;

// Action: start the workers of a round. The structs from here on are actions
// that the agent performs for its state machine.
struct StartWorkers {
  rendezvous::Place place;
};
struct SignalWorkers {
  int signal = 0;
  // Whether the signal is also sent to the workers' descendants that have left
  // the process groups of the running workers.
  bool everything = false;
  // The local rank of the only worker to whose process group the signal is
  // sent; nullopt: the signal is sent to the process groups of all workers.
  std::optional<int> local_rank;
};
// Action: read the states of these workers' processes. A state may explain why
// a worker is silent: for example, a signal has stopped its process. The agent
// answers at once with WorkersSeen.
struct LookAtWorkers {
  struct Worker {
    int local_rank = 0;
    int64_t pid = 0;
  };
  int round = 0;
  std::vector<Worker> workers;
};
// Action: read the stacks of these workers before any of them is killed. The
// first worker is suspected to hang; the others may wait for it. The event
// StackTaken follows, for the first worker only.
struct TakeStacks {
  struct Worker {
    int local_rank = 0;
    int64_t pid = 0;
  };
  int round = 0;
  // the processes whose stacks are read, at most kMaxStacks
  std::vector<Worker> workers;
};
inline constexpr size_t kMaxStacks = 8;
// Action: close the round's store, because the round is broken and clients that
// wait in the store must fail.
struct CloseStore {
  std::string reason;
};
// Action: make a new NCCL id in place of the unused id of this node, because
// ranks of a round on other nodes may already have used that id.
struct RenewNcclId {};
// Action: announce a preemption to the workers by the preemption file, and run
// the user's command (--on-preempt). PreemptionAnnounced follows when both are
// done.
struct AnnouncePreemption {
  rendezvous::PreemptionNotice notice;
};
// Action: stop the user's command that AnnouncePreemption started.
struct EndAnnouncement {
  std::string why;
};
// Action: start a health check of this node, in place of an earlier one.
// HealthChecked with the same number follows.
struct StartCheck {
  uint64_t check = 0;
};
// Action: cancel the health check, because its result is no longer needed and
// it must not compete with the workers.
struct DropCheck {};
// Action: measure the connection to another node, in place of an earlier
// measurement. PairMeasured with the same epoch and number follows.
struct MeasurePair {
  uint64_t epoch = 0;
  rendezvous::PairCheck check;
};
// Action: cancel the measurement that MeasurePair started, because its result
// is no longer needed.
struct DropMeasurement {};
// Action: end the agent, because every worker has exited.
struct Leave {
  int exit_code = 0;
  // Whether the job has succeeded and this agent never ran a worker for it.
  bool never_ran = false;
  // Whether this node performs the actions that are done once per job, such as
  // requeueing it in Slurm (Directive::acts_for_job).
  bool acts_for_job = false;
  std::optional<rendezvous::Verdict> verdict;
  std::string reason;
};

// Request: disconnect, and connect to another coordinator.
struct Reconnect {
  // time between disconnecting and connecting
  Duration pause = Duration::zero();
  // The coordinator's endpoint to try first, HOST:PORT. Empty: the agent tries
  // its known endpoints in order, beginning after the one that it tried last.
  std::string endpoint;
};

struct LifecycleStep {
  // The actions that the agent must perform, in the order of the vector.
  std::vector<std::variant<StartWorkers, SignalWorkers, CloseStore, RenewNcclId,
                           LookAtWorkers, TakeStacks, AnnouncePreemption,
                           EndAnnouncement, StartCheck, DropCheck, MeasurePair,
                           DropMeasurement>>
      actions;
  // report to send to the coordinator; nullopt: none
  std::optional<rendezvous::Report> report;
  std::optional<Reconnect> reconnect;
  // The endpoints of the standbys; nullopt: unchanged. If the coordinator is
  // lost, the agent tries these endpoints besides the configured ones.
  std::optional<std::vector<std::string>> standbys;
  // All exits of workers so far in a round that has broken, in the order of
  // their arrival, without the last lines of the workers' output. Empty:
  // unchanged since the last step. The agent writes the exits to a file in the
  // folder of the flight records.
  std::vector<rendezvous::Failure> ends;
  // lines for the user, which --quiet suppresses
  std::vector<std::string> notices;
  // lines for the user about leftover processes that were stopped; printed even
  // with --quiet
  std::vector<std::string> losses;
  std::optional<Leave> leave;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_LIFECYCLE_STEP_H_
