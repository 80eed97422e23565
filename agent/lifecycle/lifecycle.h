#ifndef MUSTER_AGENT_LIFECYCLE_LIFECYCLE_H_
#define MUSTER_AGENT_LIFECYCLE_LIFECYCLE_H_

#include <optional>
#include <string>
#include <vector>

#include "agent/lifecycle/agent_policy.h"
#include "agent/lifecycle/hang_blame.h"
#include "agent/lifecycle/hang_watch.h"
#include "agent/lifecycle/health_watch.h"
#include "agent/lifecycle/lifecycle_step.h"
#include "agent/lifecycle/nccl_id_offer.h"
#include "agent/progress/hang_policy.h"
#include "base/time.h"

namespace muster::agent {

// An agent's decisions, as a pure state machine: what the coordinator says it
// should be against what its workers are.
//
//   phase      leaves when                                        to
//   idle       told to run a round that it has not run            running
//   running    every worker exited with 0 and nothing is left     succeeded
//              a worker failed or hung, told to stop or to run    stopping
//              another round, the coordinator is absent for too long
//   stopping   nothing is left (SIGKILL after the grace)          idle
//   succeeded  as idle
//
// It leaves once it has been told that the job is over (or has given up) and
// nothing is left. Not thread-safe; performs nothing.
class Lifecycle {
 public:
  struct Config {
    std::string run_id;
    rendezvous::NodeIdentity node;  // address may be empty: LinkUp brings it
    rendezvous::JobSpec spec;
    std::string endpoint;  // the coordinator's, for messages
    AgentPolicy policy;
    // How long the first report waits for the first NCCL id; zero: not.
    Duration nccl_id_patience = Duration::zero();
    // Signals by which the cluster announces that it takes the nodes away, and
    // what workers get then; 0: nothing.
    std::vector<int> signals_to_preempt;
    int preempt_signal = 15;
    // How often a node that waits is checked; nothing: it is always fit.
    std::optional<Duration> health_interval;
  };

  Lifecycle(Config config, Instant now);

  // `now` must not run backwards.
  LifecycleStep Step(Instant now, const LifecycleEvent& event);

  // When Step must be called with ClockTicked at the latest.
  std::optional<Instant> NextDeadline() const;

  rendezvous::NodePhase phase() const { return phase_; }
  int round() const { return round_; }
  bool connected() const { return connected_; }
  // Whether the coordinator has answered once.
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
  void On(const NcclIdHeld& event);
  void On(const NcclIdMissing& event);
  void On(const NcclRootLost& event);
  void On(const WorkersReported& event);
  void On(const WorkersSeen& event);
  void On(const StackTaken& event);
  void On(const PreemptionAnnounced& event);
  void On(const HealthFound& event);
  void On(const ClockTicked&) {}

  // Makes what is into what should be.
  void Reconcile();
  void FollowDirective();
  // Whether the node asks a coordinator of another job again instead of
  // leaving at once.
  bool AsksAgain(const rendezvous::Directive& directive) const;
  void AskAgain(const std::string& why);
  Leave LeaveWith(const rendezvous::Directive& finished) const;
  void ForwardSignals();
  void MindTheCoordinator();
  // When a person is told that there has been no coordinator from the start.
  std::optional<Instant> AbsenceIsSaidAt() const;
  void MindTheGrace();
  void Start(const rendezvous::Place& place);
  // Signals the workers, and sets SIGKILL's time; a later call can only bring
  // it forward.
  void Stop(int signal, Duration grace);
  // --- a worker that is silent for too long (lifecycle_hang.cc)
  // `due`: when this step should have come at the latest.
  void ForgiveSilence(Instant due);
  void Hear(const WorkerSaid& said);
  void MindTheSilence();
  void Suspect(const HangWatch::Silence& silence);
  void LookAtSilent();
  void LookForStopped();
  std::vector<SilentWorker> SilentWorkers(const WorkersSeen& event) const;
  rendezvous::Failure SuspectedOf(const HangWatch::Silence& silence) const;
  // Says who is suspected, and has its stack taken.
  void LookAtSuspect();
  // Makes the suspicion a failure, and stops the others for it.
  void Accuse();
  // Whether this end is that of the worker that hung: it has been told then.
  bool EndedHanging(const WorkerDown& event);
  std::optional<Instant> HangDeadline() const;
  // --- the cluster takes the nodes away (lifecycle_preemption.cc)
  bool AnnouncesPreemption(int signal) const;
  void CatchPreemption(int signal);
  void Preempt(const rendezvous::PreemptionNotice& notice);
  // Whether this end is what the preemption has led to.
  bool EndedByPreemption(const rendezvous::Failure& failure) const;
  void MindTheAnnouncement();
  // When this node ends without the coordinator, after a notice.
  std::optional<Instant> PreemptionLimit() const;
  void MindThePreemption();
  // Whether somebody wants the job to end now. SIGTERM, after the notice, only
  // ends the grace: it is how clusters go on.
  bool Cancelled() const;
  // Whether workers may go on although the job is over: a coordinator that was
  // started anew has heard of the notice, but not of what they were given.
  bool GraceGoesOn() const;
  std::optional<rendezvous::PreemptionNotice> PreemptionNow() const;
  // --- whether the node may take part (lifecycle_health.cc)
  void MindTheHealth();
  // Once a round, whether or not workers of ours are left: others' may wait.
  void ReleaseWaiters(const std::string& why);
  void TellLeftBehind(const std::vector<LeftBehind>& processes);
  // An end that was none as it should be.
  void NoteEnd(rendezvous::Failure failure);
  // Ends the round here once nothing of it is left.
  void Settle();
  void GiveUp(int exit_code, std::string reason);
  void Notice(std::string line);
  // What holds for the whole job: of the nodes whose outputs flow together one
  // says it. A directive names that one; what all of them catch or hear, their
  // first one tells.
  void NoticeForJob(std::string line);
  bool IsSaidHere() const;
  void SendReport();
  bool HasWorkers() const {
    return phase_ == rendezvous::NodePhase::kRunning ||
           phase_ == rendezvous::NodePhase::kStopping;
  }

  Config config_;
  Instant now_;
  LifecycleStep step_;

  rendezvous::NodePhase phase_ = rendezvous::NodePhase::kIdle;
  int round_ = 0;
  std::string run_tag_;                        // of round_
  int first_rank_ = 0;                         // of round_
  std::vector<rendezvous::Failure> failures_;  // of round_
  std::vector<rendezvous::Failure> ends_;      // all of them, of round_
  std::string nccl_root_lost_;                 // of round_
  int pending_ = 0;        // workers that have not ended, nor failed to start
  bool any_left_ = false;  // a worker, or what descends from one
  std::optional<Instant> kill_at_;
  // While stopping: the time of the reason to stop, as far as this node knows,
  // and whether a worker of this node is the reason.
  Instant broke_at_;
  bool broke_here_ = false;
  bool killed_ = false;        // kill_at_ is for SIGKILL's repetition
  bool store_closed_ = false;  // of round_
  uint64_t forwarded_ = 0;     // the newest job-wide signal that workers got

  // Hangs. First a worker is suspected, or another one that the kernel keeps
  // from running, and its stack taken; it is accused when that has come, unless
  // it reports or ends by itself meanwhile.
  struct Suspicion {
    HangWatch::Silence overdue;  // whose deadline has passed
    bool looked = false;         // WorkersSeen has come
    rendezvous::Failure failure;
    Instant since;    // when it fell silent
    Instant give_up;  // then it is accused without its stack
  };
  HangWatch watch_;
  std::vector<int64_t> pids_;  // of round_'s workers that run; 0: ended
  std::optional<Suspicion> suspicion_;
  std::optional<int> accused_;  // its local rank, in round_
  Instant accused_since_;

  std::optional<rendezvous::Directive> directive_;
  const Instant began_;
  // Since when no directive has come, while one is due: from the start, or
  // from when the link broke.
  std::optional<Instant> unanswered_since_;
  bool connected_ = false;
  bool ever_answered_ = false;
  bool absent_from_start_ = false;  // and this has not been said
  std::string link_error_;

  struct Preemption {
    rendezvous::PreemptionNotice notice;  // without what is left
    Instant deadline;
    Instant caught;  // here or elsewhere
  };
  std::optional<Preemption> preemption_;
  // Until when what tells of it may run, while it does.
  std::optional<Instant> announcing_until_;
  HealthWatch health_;

  std::optional<rendezvous::CancelWish> cancel_;
  std::optional<Instant> cancel_deadline_;
  std::optional<std::string> leaving_;
  std::vector<rendezvous::SignalNotice> signals_;
  uint64_t newest_signal_ = 0;
  int held_port_ = 0;
  NcclIdOffer nccl_id_;

  std::optional<Leave> leave_;  // once nothing is left
  uint64_t sequence_ = 0;
  bool changed_ = false;  // since the last report
  Instant next_report_;
  std::string last_notice_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_LIFECYCLE_H_
