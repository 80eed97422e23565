#ifndef MUSTER_AGENT_LIFECYCLE_LIFECYCLE_STEP_H_
#define MUSTER_AGENT_LIFECYCLE_LIFECYCLE_STEP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "agent/guardian/left_behind.h"
#include "agent/lifecycle/worker_state.h"
#include "agent/progress/progress_message.h"
#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::agent {

// What can happen to an agent.
struct LinkUp {
  std::string own_address;  // what reaches the coordinator; may be empty
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
// A worker ended, or could not be started (kStartFailed). No failure: it
// exited with 0.
struct WorkerDown {
  int local_rank = 0;
  std::optional<rendezvous::Failure> failure;
  // No signal had been sent to it.
  bool by_itself = false;
  // The age of the exception in its error file, if it wrote one.
  std::optional<Duration> recorded_ago;
};
// None of the round's workers is started: the node cannot serve the round.
struct RoundRefused {
  std::string why;  // names the host
};
// Nothing that descends from a worker is left.
struct WorkersGone {
  std::vector<LeftBehind> left_behind;  // stopped, of all workers
};
// Workers can no longer be started here; those that ran have been killed.
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
// The driver holds this NCCL id, and its root, for the next world.
struct NcclIdHeld {
  std::string id;
};
// It has none, or none any more; why, for a person, unless empty.
struct NcclIdMissing {
  std::string why;
};
// The id that the current round uses has lost its root, which was here: who and
// how, for a person.
struct NcclRootLost {
  std::string what;
};
// Workers of the current round have said something. All that is known at this
// moment comes in one event: told one by one, those that come last would seem
// silent after this process was stopped for a while.
struct WorkersReported {
  std::vector<WorkerSaid> said;
};
// What LookAtWorkers was for.
struct WorkersSeen {
  struct Worker {
    int local_rank = 0;
    WorkerState state = WorkerState::kOther;
  };
  int round = 0;
  std::vector<Worker> workers;
  std::string records;  // the folder for `launch inspect`; empty: none
};
// What TakeStacks was for: where the worker named first hangs, and its words.
struct StackTaken {
  int round = 0;
  int local_rank = 0;
  std::vector<std::string> stack;  // bounded, see Failure
  std::vector<std::string> stderr_tail;
  double unix_time = 0;
};
// What AnnouncePreemption was for has ended.
struct PreemptionAnnounced {};
// What StartCheck with this number was for has ended; empty: the node is
// healthy.
struct HealthFound {
  uint64_t check = 0;
  std::string unhealthy;
};
struct ClockTicked {};

using LifecycleEvent =
    std::variant<LinkUp, LinkDown, DirectiveCame, WorkerUp, WorkerDown,
                 RoundRefused, WorkersGone, GuardianDied, SignalCaught,
                 PortHeld, NcclIdHeld, NcclIdMissing, NcclRootLost,
                 WorkersReported, WorkersSeen, StackTaken, PreemptionAnnounced,
                 HealthFound, ClockTicked>;

// What the driver shall do.
struct StartWorkers {
  rendezvous::Place place;
};
struct SignalWorkers {
  int signal = 0;
  // Also descendants that left their worker's process group.
  bool everything = false;
  // Only the process group of the worker with this local rank.
  std::optional<int> local_rank;
};
// Does the kernel let these workers run? They may be to blame for a silence.
// WorkersSeen follows at once.
struct LookAtWorkers {
  struct Worker {
    int local_rank = 0;
    int64_t pid = 0;
  };
  int round = 0;
  std::vector<Worker> workers;
};
// Looks at where these workers are, before any is killed: the first hangs, the
// others may wait for it. StackTaken follows for the first.
struct TakeStacks {
  struct Worker {
    int local_rank = 0;
    int64_t pid = 0;
  };
  int round = 0;
  std::vector<Worker> workers;  // at most kMaxStacks
};
inline constexpr size_t kMaxStacks = 8;
// The round is broken: whoever waits in its store waits in vain.
struct CloseStore {
  std::string reason;
};
// The NCCL id that is held may have been used: another is needed.
struct RenewNcclId {};
// The cluster takes the nodes away: workers find it in a file, and a person's
// command is run. PreemptionAnnounced follows once that has ended.
struct AnnouncePreemption {
  rendezvous::PreemptionNotice notice;
};
// Whoever still runs for AnnouncePreemption shall end.
struct EndAnnouncement {
  std::string why;
};
// Is this node healthy? HealthFound with this number follows. Takes
// the place of an earlier look.
struct StartCheck {
  uint64_t check = 0;
};
// Nobody waits for that any more, and it must not get in the workers' way.
struct DropCheck {};
// The agent is done: every worker is gone.
struct Leave {
  int exit_code = 0;
  // The job has succeeded, and this agent never ran a worker for it.
  bool never_ran = false;
  // Of all nodes this one acts for the job (Directive::acts_for_job).
  bool acts_for_job = false;
  std::optional<rendezvous::Verdict> verdict;
  std::string reason;
};

struct LifecycleStep {
  // In order.
  std::vector<std::variant<StartWorkers, SignalWorkers, CloseStore, RenewNcclId,
                           LookAtWorkers, TakeStacks, AnnouncePreemption,
                           EndAnnouncement, StartCheck, DropCheck>>
      actions;
  std::optional<rendezvous::Report> report;  // to be sent
  // The link is connected to the wrong coordinator: it shall hang up, and
  // connect again after a while.
  bool reconnect = false;
  // How the workers of a round that breaks have ended so far, in that order,
  // without their last words: to be kept beside their flight recorders. Empty:
  // nothing new.
  std::vector<rendezvous::Failure> ends;
  std::vector<std::string> notices;  // lines for a person
  std::vector<std::string> losses;   // as `notices`, with --quiet as well
  std::optional<Leave> leave;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_LIFECYCLE_STEP_H_
