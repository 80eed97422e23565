#ifndef MUSTER_AGENT_LIFECYCLE_LIFECYCLE_H_
#define MUSTER_AGENT_LIFECYCLE_LIFECYCLE_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/lifecycle/agent_policy.h"
#include "agent/lifecycle/hang_watch.h"
#include "agent/lifecycle/health_watch.h"
#include "agent/lifecycle/lifecycle_step.h"
#include "agent/lifecycle/nccl_id_offer.h"
#include "agent/lifecycle/node_ledger.h"
#include "base/time.h"

namespace muster::agent {

// An agent's decisions, as a pure state machine: compares the coordinator's
// directive with the state of the workers and returns the actions to perform.
//
//   phase      ends when                                           next phase
//   idle       the coordinator orders a round that this node has   running
//              not run
//   running    every worker exited with 0 and no process is left   succeeded
//              a worker failed or hung; or the coordinator orders  stopping
//              to stop, orders another round, or is absent for
//              too long
//   stopping   no process is left (SIGKILL after the grace period) idle
//   succeeded  the coordinator orders a round that this node has   running
//              not run
//
// The agent exits when the job is over, or the agent has given up, and no
// process of a worker is left. Not thread-safe; performs no action itself.
class Lifecycle {
 public:
  struct Config {
    std::string run_id;
    // identity of this node; LinkUp::own_address replaces an empty address
    rendezvous::NodeIdentity node;
    // a random secret that proves that this agent holds the node's place in the
    // job (Report::place_key)
    std::string place_key;
    rendezvous::JobSpec spec;
    std::string endpoint;  // the coordinator's endpoint, for texts for people
    // HOST:PORT of nodes that may have taken over as coordinator; tried if the
    // coordinator does not answer
    std::vector<std::string> other_endpoints;
    // HOST:PORT at which this process could coordinate the job; empty: it
    // cannot
    std::string standby_endpoint;
    AgentPolicy policy;
    // The longest time that this node delays its first report until it has an
    // NCCL id to offer for round 1; zero: no delay.
    Duration nccl_id_timeout = Duration::zero();
    // signals_to_preempt: the signals by which the cluster announces a
    // preemption. preempt_signal: the signal that workers then get; 0: none.
    std::vector<int> signals_to_preempt;
    int preempt_signal = 15;
    // The interval of health checks while a node waits; nullopt: the node is
    // never checked and counts as healthy.
    std::optional<Duration> health_interval;
    // The port that is reserved for measurements of the connection to another
    // node (--network-check); 0: none.
    int check_port = 0;
    // The maximum number of this node's GPUs that take part in a measurement of
    // the connection to another node.
    int check_gpus = 0;
  };

  Lifecycle(Config config, Instant now);

  // Handles an event at the time `now`, which must not run backwards. Returns
  // the actions that the caller must perform.
  LifecycleStep Step(Instant now, const LifecycleEvent& event);

  // The latest time for the next call of Step, with ClockTicked if no other
  // event comes before; nullopt: no limit.
  std::optional<Instant> NextDeadline() const;

  rendezvous::NodePhase phase() const { return phase_; }
  int round() const { return round_; }
  bool connected() const { return connected_; }
  // Whether the coordinator has answered at least once.
  bool reached() const { return ever_answered_; }
  bool leaving() const { return leave_.has_value() || leaving_.has_value(); }
  // The node's time by activity, and the progress of its workers, at `now`.
  rendezvous::TimeLedger TimeAt(Instant now) const {
    return ledger_.Read(now).ledger;
  }
  std::vector<rendezvous::WorkerProgress> ProgressAt(Instant now) const {
    return watch_.Progress(now);
  }
  const HealthWatch& health() const { return health_; }

 private:
  void On(const LinkUp& event);
  void On(const LinkDown& event);
  void On(const DirectiveCame& event);
  void On(const WorkerUp& event);
  void On(const WorkerDown& event);
  void On(const RoundRefused& event);
  void On(const WorkersGone& event);
  void On(const GuardianDied& event);
  void On(const SignalCaught& event);
  void On(const PortHeld& event);
  void On(const NcclIdReady& event);
  void On(const NcclIdMissing& event);
  void On(const NcclRootLost& event);
  void On(const WorkersReported& event);
  void On(const WorkersSeen& event);
  void On(const StackTaken& event);
  void On(const PreemptionAnnounced& event);
  void On(const HealthChecked& event);
  void On(const NodeFaultSeen& event);
  void On(const PairMeasured& event);
  void On(const ClockTicked&) {}

  // Starts, signals or stops workers, so that their state becomes the one that
  // the coordinator's directive asks for.
  void Reconcile();
  void FollowDirective();
  // Whether `directive` comes from a process that does not coordinate the job,
  // or no longer does. If so, also requests a connection to another endpoint.
  // Exception: if the process is a standby, this node stays connected to it for
  // a limited time.
  bool ComesFromAnother(const rendezvous::Directive& directive);
  // Sets the endpoints that are tried besides the coordinator's: `standbys`,
  // and Config::other_endpoints.
  void SetStandbys(std::vector<std::string> standbys);
  // The endpoint at which the coordinator last answered. If it has not answered
  // yet, the configured endpoint.
  const std::string& Coordinator() const;
  // Keeps the connection to the standby that has sent `directive`, for a
  // limited time, because the standby may become the coordinator.
  void StandBy(const rendezvous::Directive& directive);
  void GoTo(std::string endpoint, Duration pause);
  // Whether `order`, which begins a round, is recent: it answers a report that
  // this node sent at most JobSpec::order_life() ago, or does not say which
  // report it answers. An older order was delayed by the network, or the agent
  // was suspended. Meanwhile a new coordinator may have begun another world
  // without this node.
  bool IsFresh(const rendezvous::Directive& order) const;
  // Discards an order to begin a round that is too old, and sends a report. A
  // coordinator that still wants the round answers with a new order.
  void AskAgain();
  void LeaveStandby();
  // Reads from a coordinator's directive which process coordinates the job and
  // which nodes may take over.
  void FollowCoordinator(const rendezvous::Directive& directive);
  // Whether this node may connect again after a coordinator has refused it.
  // True if the endpoint may still lead to another job's coordinator, and this
  // node runs no worker.
  bool MayMeetAnotherJob() const;
  // Whether `directive` is a refusal by the coordinator of another job, after
  // which the agent connects again instead of exiting.
  bool RetriesWrongCoordinator(const rendezvous::Directive& directive) const;
  void Retry(const std::string& why);
  Leave LeaveWith(const rendezvous::Directive& finished) const;
  void ForwardSignals();
  // The time without an answer from the coordinator after which this node gives
  // up.
  Duration LongestAbsence() const;
  void CheckCoordinatorAbsence();
  // The time at which the user is notified that the coordinator has not been
  // reached since the start; nullopt: no notice is planned.
  std::optional<Instant> AbsenceNoticeAt() const;
  void KillWhenGraceIsOver();
  void Start(const rendezvous::Place& place);
  // Sends `signal` to the workers and plans SIGKILL after `grace`. If SIGKILL
  // is already planned, Stop can only move it to an earlier time.
  void Stop(int signal, Duration grace);
  // --- Functions that handle silent workers (lifecycle_hang.cc).
  //
  // Moves the workers' deadlines if the agent was suspended, so that the lost
  // time does not count as the workers' silence. `due`: the time at which the
  // caller had to call Step. A call much later than `due` shows that the agent
  // was suspended.
  void ForgiveSilence(Instant due);
  void RecordProgress(const WorkerSaid& said);
  void CheckForSilence();
  void Suspect(const HangWatch::Silence& silence);
  void RequestWorkerStates();
  void ExamineStopped();
  std::vector<SilentWorker> SilentWorkers(const WorkersSeen& event) const;
  rendezvous::Failure SuspectedOf(const HangWatch::Silence& silence) const;
  // Notifies the user of the worker that is suspected to hang. Requests the
  // stack of this worker and those of its peers on this node, kMaxStacks stacks
  // at most.
  void RequestStacks();
  // Records the hang as the failure of the suspected worker. If the round is
  // running, also stops all workers.
  void ReportHang();
  // Whether `event` is the exit of a worker that is reported as hung. Such an
  // exit does not count as a further failure. If a hang is only suspected,
  // `event` may confirm it or rule it out. The function then first reports the
  // hang or drops the suspicion.
  bool IsEndOfHungWorker(const WorkerDown& event);
  std::optional<Instant> HangDeadline() const;
  // --- Functions that handle announced preemptions (lifecycle_preemption.cc).
  //
  // Whether `signal` is one by which the cluster announces a preemption.
  bool AnnouncesPreemption(int signal) const;
  void CatchPreemption(int signal);
  void Preempt(const rendezvous::PreemptionNotice& notice);
  // Whether the preemption explains a worker's exit, so that `failure` does not
  // count as a failure.
  bool IsEndByPreemption(const rendezvous::Failure& failure) const;
  void EndAnnouncementWhenDue();
  // The time at which, after a preemption notice, this node gives up waiting
  // for an order of the coordinator.
  std::optional<Instant> PreemptionLimit() const;
  void StopAtPreemptionLimit();
  // Whether a user has cancelled the job by a signal. A SIGTERM after a
  // preemption notice does not count: clusters themselves send it then.
  bool Cancelled() const;
  // Whether workers may use the rest of their grace period after a preemption,
  // although the job's verdict has arrived. Normally the workers end before the
  // verdict. But a coordinator that was restarted during the preemption knows
  // of no running round, and sends the verdict too early.
  bool WorkersKeepGrace() const;
  std::optional<rendezvous::PreemptionNotice> PreemptionNow() const;
  // --- Functions for the node's health, and for the port and the NCCL id that
  // it offers for the next round (lifecycle_offers.cc).
  //
  // Whether this node needs no health check, because it will most likely join
  // no further round.
  bool NeedsNoCheck() const;
  void UpdateHealthChecks();
  // Begins the measurement with another node that the directive orders
  // (Directive::pair_check). Cancels a measurement that the directive no longer
  // orders.
  void FollowPairCheck();
  // Takes over Directive::check_fault: the reason why the coordinator found
  // this node bad by the measurements between pairs of nodes (--network-check).
  // The reports of this node repeat the reason, so that a new coordinator
  // learns it.
  void TakeCheckFault(const rendezvous::Directive& directive);
  // Closes the round's store, once per round, so that the requests of clients
  // that wait in the store fail. Clients on other nodes may wait there even if
  // no worker of this node is left.
  void ReleaseWaiters(const std::string& why);
  void NoticeLeftBehind(const std::vector<LeftBehind>& processes);
  // Records the failure of a worker.
  void RecordFailure(rendezvous::Failure failure);
  // Ends the round on this node once no process of its workers is left.
  void Settle();
  void GiveUp(int exit_code, std::string reason);
  // Records in the time ledger what the node does after this step. `before` and
  // `round_before` are the phase and the round before the step.
  void KeepTime(rendezvous::NodePhase before, int round_before);
  // The activity to which time is attributed while no worker runs.
  rendezvous::Activity ActivityWithoutWorkers() const;
  void Notice(std::string line);
  // Prints a general message: a message about the whole job for which the
  // coordinator's directive never chooses a node. With JobMessages::kAssigned,
  // prints nothing, because this node then prints only the messages that the
  // directive assigns to it.
  void NoticeForJob(std::string line);
  bool PrintsForJob() const;
  void SendReport();
  bool HasWorkers() const {
    return phase_ == rendezvous::NodePhase::kRunning ||
           phase_ == rendezvous::NodePhase::kStopping;
  }

  Config config_;
  Instant now_;
  LifecycleStep step_;

  rendezvous::NodePhase phase_ = rendezvous::NodePhase::kIdle;
  // The number of the round that this node runs or ran last; 0: none yet. The
  // fields from here to `forwarded_`, except restarts_used_, describe this
  // round.
  int round_ = 0;
  // this node's place in the round; nullopt: no round yet
  std::optional<rendezvous::Place> place_;
  // The coordinator's reason and exit code for the end of this round; nullopt:
  // the coordinator has not ended it.
  std::optional<rendezvous::RoundEnd> round_end_;
  // failures of workers as this node reports them; at most
  // kMaxFailuresPerReport
  std::vector<rendezvous::Failure> failures_;
  // All failures of workers in this round, hangs included, even those for which
  // `failures_` has no room.
  std::vector<rendezvous::Failure> ends_;
  // How the round's NCCL root (the process that created the NCCL id and through
  // which the ranks connect) ended. Empty: the NCCL root runs, or is on another
  // node.
  std::string nccl_root_lost_;
  // number of restarts that the job has used, from the newest directive that
  // contains this number
  int restarts_used_ = 0;
  int pending_ = 0;    // number of workers that are running or being started
  int unstarted_ = 0;  // number of workers that have not been started yet
  bool any_left_ = false;  // whether a worker or a descendant of one is alive
  std::optional<Instant> kill_at_;
  // broke_at_: the time of the failure that broke the round, as far as this
  // node knows. broke_here_: whether this failure happened on this node. Both
  // members are valid in the phase stopping.
  Instant broke_at_;
  bool broke_here_ = false;
  // Whether SIGKILL was sent to this round's workers. If so, kill_at_ is the
  // time at which it is sent again.
  bool killed_ = false;
  bool store_closed_ = false;  // whether the store of round round_ is closed
  // The number (SignalNotice::ordinal) of the newest signal that this node has
  // forwarded to its workers in this round by order of the directive.
  uint64_t forwarded_ = 0;

  // The state of a suspected hang. When a worker is overdue, that worker or a
  // worker that blocks it is suspected. The agent then requests the suspect's
  // stack. When the stack has arrived, the suspect is reported as hung. The
  // suspicion is dropped if the suspect reports progress, succeeds, or fails
  // before its stack is requested.
  struct Suspicion {
    // the worker that has been silent for longer than its deadline
    HangWatch::Silence overdue;
    // whether the workers' states (WorkersSeen) have arrived
    bool looked = false;
    rendezvous::Failure failure;
    Instant since;    // time at which the suspected worker fell silent
    Instant give_up;  // time at which the hang is reported even without a stack
  };
  HangWatch watch_;
  NodeLedger ledger_;
  // process ids of the workers of round_, by local rank; 0: exited
  std::vector<int64_t> pids_;
  std::optional<Suspicion> suspicion_;
  // local rank of the worker reported as hung in this round
  std::optional<int> hung_;
  Instant hung_since_;

  std::optional<rendezvous::Directive> directive_;
  const Instant began_;
  // The time since which an expected directive is missing: the start of the
  // agent, or the loss of the connection. nullopt: no directive is missing.
  std::optional<Instant> unanswered_since_;
  // IP addresses of this node, for reports
  std::vector<std::string> addresses_;
  // the endpoint of the newest connection (LinkUp::coordinator); empty: unknown
  std::string connected_to_;
  // the endpoint at which the coordinator last answered; empty: it has not
  // answered yet
  std::string coordinator_;
  // start of the job according to the coordinators' directives; nullopt:
  // unknown
  std::optional<Instant> job_began_;
  // The highest epoch that a coordinator or standby has sent. Each takeover of
  // the job's coordination has a higher epoch, so this node does not obey a
  // coordinator with a lower one.
  uint64_t promised_epoch_ = 0;
  rendezvous::Electorate electorate_;
  // The world in which this agent took part before the world of `place_`, and
  // this node's group rank in the older world; -1: none. A coordinator may use
  // the older world as its electorate without knowing that this node belongs to
  // it. The agent then reports the rank.
  rendezvous::WorldId previous_world_;
  int previous_rank_ = -1;
  int host_rank_ = -1;
  std::vector<std::string> standbys_;
  // While this node is connected to a standby: the time at which it tries the
  // next standby.
  std::optional<Instant> standby_until_;
  // The newest standby's message about its election; empty: no message since
  // the coordinator's last answer.
  std::string standby_reason_;
  // number of standbys that this node has left because they did not become the
  // coordinator
  uint64_t standbys_tried_ = 0;
  bool connected_ = false;
  bool ever_answered_ = false;
  // whether the user has been told that no coordinator has been reached since
  // the start
  bool absence_told_ = false;
  std::string link_error_;

  struct Preemption {
    // signal and host of the preemption notice; its field `left` is not used,
    // because `deadline` gives the remaining time
    rendezvous::PreemptionNotice notice;
    Instant deadline;
    // time at which this node learned of the preemption, from a signal or from
    // a directive of the coordinator
    Instant caught;
  };
  std::optional<Preemption> preemption_;
  // The deadline of the action AnnouncePreemption, which includes the user's
  // preemption command; nullopt: the action is not in progress.
  std::optional<Instant> announcing_until_;
  HealthWatch health_;
  // pair_check_: epoch and number of the newest measurement with another node.
  // is_measuring_: whether this measurement is in progress.
  std::pair<uint64_t, uint64_t> pair_check_ = {0, 0};
  bool is_measuring_ = false;
  std::optional<rendezvous::PairMeasurement> measurement_;
  // why this node was found bad by the measurements between pairs of nodes
  // (Report::check_fault); empty: the node is good, or was not measured
  std::string check_fault_;

  std::optional<rendezvous::CancelWish> cancel_;
  std::optional<Instant> cancel_deadline_;
  // why this node asks to leave the job; nullopt: it does not
  std::optional<std::string> leaving_;
  // the exit code if the coordinator lets this node leave
  int leaving_exit_code_ = 0;
  // The newest faults of this node, oldest first (Report::faults).
  std::vector<rendezvous::NodeFault> faults_;
  std::vector<rendezvous::SignalNotice> signals_;
  uint64_t newest_signal_ = 0;
  int held_port_ = 0;
  NcclIdOffer nccl_id_;

  // the result with which the agent will exit once no process of a worker is
  // left; nullopt: the agent continues
  std::optional<Leave> leave_;
  uint64_t sequence_ = 0;
  struct SentReport {
    uint64_t sequence = 0;
    Instant at;
  };
  // the newest reports to the coordinator, oldest first
  std::deque<SentReport> sent_;
  // whether the coordinator must get a report at once, because this node's
  // state has changed since the last report
  bool changed_ = false;
  Instant next_report_;
  std::string last_notice_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_LIFECYCLE_H_
