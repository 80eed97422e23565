#ifndef MUSTER_AGENT_LIFECYCLE_LIFECYCLE_H_
#define MUSTER_AGENT_LIFECYCLE_LIFECYCLE_H_

#include <optional>
#include <string>
#include <vector>

#include "agent/lifecycle/agent_policy.h"
#include "agent/lifecycle/hang_watch.h"
#include "agent/lifecycle/health_watch.h"
#include "agent/lifecycle/lifecycle_step.h"
#include "agent/lifecycle/nccl_id_offer.h"
#include "agent/lifecycle/node_ledger.h"
#include "agent/progress/hang_policy.h"
#include "base/time.h"

namespace muster::agent {

// An agent's decisions, as a pure state machine: compares the coordinator's
// directive with the state of the workers and returns the actions to perform.
//
//   phase      leaves when                                        to
//   idle       told to run a round that it has not run            running
//   running    every worker exited with 0 and nothing is left     succeeded
//              a worker failed or hung, told to stop or to run    stopping
//              another round, the coordinator is absent for too long
//   stopping   nothing is left (SIGKILL after the grace period)   idle
//   succeeded  as idle
//
// The agent leaves when the job is over, or the agent has given up, and no
// process of a worker is left. Not thread-safe; performs nothing.
class Lifecycle {
 public:
  struct Config {
    std::string run_id;
    rendezvous::NodeIdentity node;  // an empty address is filled in by LinkUp
    std::string place_key;          // Report::place_key
    rendezvous::JobSpec spec;
    std::string endpoint;          // the coordinator's endpoint, for messages
    std::string standby_endpoint;  // Report::standby_endpoint
    AgentPolicy policy;
    // How long the first report waits for the first NCCL id; zero: no wait.
    Duration nccl_id_timeout = Duration::zero();
    // Signals by which the cluster announces a preemption, and the signal that
    // workers then get; 0: none.
    std::vector<int> signals_to_preempt;
    int preempt_signal = 15;
    // How often the health of a waiting node is checked; nullopt: never, and
    // the node counts as healthy.
    std::optional<Duration> health_interval;
  };

  Lifecycle(Config config, Instant now);

  // Handles an event at the time `now`, which must not run backwards. Returns
  // what the driver must do.
  LifecycleStep Step(Instant now, const LifecycleEvent& event);

  // The time at which Step must be called with ClockTicked at the latest.
  std::optional<Instant> NextDeadline() const;

  rendezvous::NodePhase phase() const { return phase_; }
  int round() const { return round_; }
  bool connected() const { return connected_; }
  // Whether the coordinator has answered at least once.
  bool reached() const { return ever_answered_; }
  bool leaving() const { return leave_.has_value() || leaving_.has_value(); }
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
  void On(const ClockTicked&) {}

  // Starts, signals or stops workers, so that their state becomes the one that
  // the coordinator's directive asks for.
  void Reconcile();
  void FollowDirective();
  // Whether the directive comes from a process that is not, or no longer, the
  // job's coordinator. Then arranges to connect elsewhere.
  bool ComesFromAnother(const rendezvous::Directive& directive);
  // Where the coordinator answered last, or where it should be.
  const std::string& Coordinator() const;
  // Stays with the standby that has sent `directive`, for some time.
  void StandBy(const rendezvous::Directive& directive);
  void GoTo(std::string endpoint, Duration pause);
  void LeaveStandby();
  // Takes who coordinates the job, and who may take over, from a directive of
  // the coordinator.
  void FollowCoordinator(const rendezvous::Directive& directive);
  // Whether the endpoint may still belong to the coordinator of another job,
  // and this node has nothing to lose by asking again.
  bool MayMeetAnotherJob() const;
  // Whether the agent retries, instead of leaving, because the endpoint belongs
  // to the coordinator of another job.
  bool RetriesWrongCoordinator(const rendezvous::Directive& directive) const;
  void Retry(const std::string& why);
  Leave LeaveWith(const rendezvous::Directive& finished) const;
  void ForwardSignals();
  // The time without an answer of the coordinator after which this node gives
  // up.
  Duration LongestAbsence() const;
  void CheckCoordinatorAbsence();
  // The time at which a notice says that the coordinator could never be
  // reached.
  std::optional<Instant> AbsenceNoticeAt() const;
  void KillWhenGraceIsOver();
  void Start(const rendezvous::Place& place);
  // Sends `signal` to the workers and plans SIGKILL after `grace`. A later call
  // can only make SIGKILL earlier.
  void Stop(int signal, Duration grace);
  // --- workers that are silent for too long (lifecycle_hang.cc)
  // If this step comes much later than `due`, its deadline, the agent itself
  // was suspended: the lost time does not count as silence of the workers.
  void ForgiveSilence(Instant due);
  void RecordProgress(const WorkerSaid& said);
  void CheckForSilence();
  void Suspect(const HangWatch::Silence& silence);
  void RequestWorkerStates();
  void ExamineStopped();
  std::vector<SilentWorker> SilentWorkers(const WorkersSeen& event) const;
  rendezvous::Failure SuspectedOf(const HangWatch::Silence& silence) const;
  // Announces the suspected worker and requests its stack.
  void RequestStacks();
  // Records the suspected worker's failure and stops the other workers.
  void ReportHang();
  // Whether this is the end of the worker that was reported as hung; the hang
  // was already reported as its failure.
  bool IsEndOfHungWorker(const WorkerDown& event);
  std::optional<Instant> HangDeadline() const;
  // --- preemptions that the cluster announces (lifecycle_preemption.cc)
  bool AnnouncesPreemption(int signal) const;
  void CatchPreemption(int signal);
  void Preempt(const rendezvous::PreemptionNotice& notice);
  // Whether the preemption explains this end of a worker.
  bool IsEndByPreemption(const rendezvous::Failure& failure) const;
  void EndAnnouncementWhenDue();
  // The time at which this node ends without an order of the coordinator, after
  // a preemption notice.
  std::optional<Instant> PreemptionLimit() const;
  void StopAtPreemptionLimit();
  // Whether a user has cancelled the job. After a preemption notice SIGTERM
  // does not count as a cancel: clusters send it after their notice.
  bool Cancelled() const;
  // Whether workers may use their grace period although the job is over. A
  // restarted coordinator knows the notice, but not the grace period.
  bool WorkersKeepGrace() const;
  std::optional<rendezvous::PreemptionNotice> PreemptionNow() const;
  // --- what this node offers for the next round: its health, a port and an
  // NCCL id (lifecycle_offers.cc)
  // Whether health checks of this node are pointless, because the node will
  // most likely join no further round.
  bool NeedsNoCheck() const;
  void UpdateHealthChecks();
  // Closes the round's store, once per round, so that waiting clients fail.
  // Clients on other nodes may wait there even if no worker of this node is
  // left.
  void ReleaseWaiters(const std::string& why);
  void NoticeLeftBehind(const std::vector<LeftBehind>& processes);
  // Records the failure of a worker.
  void RecordFailure(rendezvous::Failure failure);
  // Ends the round on this node once no process of it is left.
  void Settle();
  void GiveUp(int exit_code, std::string reason);
  // Follows in the ledger what the node does after this step, which began with
  // the phase `before` of the round `round_before`.
  void KeepTime(rendezvous::NodePhase before, int round_before);
  // What the node does while no worker runs.
  rendezvous::Activity ActivityWithoutWorkers() const;
  void Notice(std::string line);
  // Prints a message about the whole job, but only on the node that
  // AgentPolicy::job_messages or the directive selects.
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
  // The number of the round that this node runs or ran last; 0: none yet. This
  // field and those up to `forwarded_` describe this round.
  int round_ = 0;
  std::optional<rendezvous::Place> place_;  // nullopt: no round yet
  // How the coordinator ended this round; nullopt: it has not.
  std::optional<rendezvous::RoundEnd> round_end_;
  // abnormal ends that are reported
  std::vector<rendezvous::Failure> failures_;
  // All abnormal ends of workers in this round, hangs included; `failures_` has
  // at most kMaxFailuresPerReport of them.
  std::vector<rendezvous::Failure> ends_;
  // why the NCCL id's root is lost; empty: it lives
  std::string nccl_root_lost_;
  int restarts_used_ = 0;  // Report::restarts_used
  int pending_ = 0;        // workers that are running or being started
  int unstarted_ = 0;      // workers that were never up
  bool any_left_ = false;  // whether a worker or a descendant of one is alive
  std::optional<Instant> kill_at_;
  // Valid while stopping: when the failure that broke the round happened, as
  // far as this node knows, and whether it happened on this node.
  Instant broke_at_;
  bool broke_here_ = false;
  bool killed_ = false;  // SIGKILL was sent; kill_at_ is the time to repeat it
  bool store_closed_ = false;  // whether round_'s store is closed
  // number of the newest job-wide signal that the workers got
  uint64_t forwarded_ = 0;

  // Handling of a hang: a worker that is overdue, or the worker that blocks it,
  // becomes suspected, and its stack is requested. When the stack has come the
  // worker is reported as hung, unless it reports progress or ends before.
  struct Suspicion {
    HangWatch::Silence overdue;  // the worker whose deadline has passed
    bool looked = false;  // whether the workers' states (WorkersSeen) have come
    rendezvous::Failure failure;
    Instant since;    // when the suspected worker fell silent
    Instant give_up;  // at this time the hang is reported without a stack
  };
  HangWatch watch_;
  NodeLedger ledger_;
  // process ids of the workers of round_, by local rank; 0: ended
  std::vector<int64_t> pids_;
  std::optional<Suspicion> suspicion_;
  // local rank of the worker reported as hung in round_
  std::optional<int> hung_;
  Instant hung_since_;

  std::optional<rendezvous::Directive> directive_;
  const Instant began_;
  // Since when an expected directive is missing: the start of the agent, or the
  // loss of the connection.
  std::optional<Instant> unanswered_since_;
  std::vector<std::string> addresses_;  // Report::addresses
  std::string connected_to_;  // LinkUp::coordinator of the newest LinkUp
  std::string coordinator_;   // the endpoint at which the coordinator answered
  uint64_t promised_epoch_ = 0;  // Report::promised_epoch
  rendezvous::Electorate electorate_;
  int host_rank_ = -1;
  std::vector<std::string> standbys_;
  // While connected to a standby: when to try another one.
  std::optional<Instant> standby_until_;
  uint64_t standbys_tried_ = 0;  // number of standbys that did not take over
  bool connected_ = false;
  bool ever_answered_ = false;
  bool absent_from_start_ = false;  // not reached at the start; no notice yet
  std::string link_error_;

  struct Preemption {
    // as received: its remaining time is not updated
    rendezvous::PreemptionNotice notice;
    Instant deadline;
    Instant caught;  // time of the signal, on this node or another one
  };
  std::optional<Preemption> preemption_;
  // The deadline of a running AnnouncePreemption; nullopt: none runs.
  std::optional<Instant> announcing_until_;
  HealthWatch health_;

  std::optional<rendezvous::CancelWish> cancel_;
  std::optional<Instant> cancel_deadline_;
  std::optional<std::string> leaving_;
  std::vector<rendezvous::SignalNotice> signals_;
  uint64_t newest_signal_ = 0;
  int held_port_ = 0;
  NcclIdOffer nccl_id_;

  std::optional<Leave> leave_;  // how to leave; done once no process is left
  uint64_t sequence_ = 0;
  bool changed_ = false;  // the state has changed since the last report
  Instant next_report_;
  std::string last_notice_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_LIFECYCLE_H_
