#ifndef MUSTER_RENDEZVOUS_JOB_JOB_H_
#define MUSTER_RENDEZVOUS_JOB_JOB_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "rendezvous/job/failure_log.h"
#include "rendezvous/job/job_step.h"
#include "rendezvous/job/membership.h"
#include "rendezvous/job/world.h"
#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/job_status.h"

namespace muster {

// Membership and rounds of one job, as a pure state machine:
//
//   phase      leaves when                                      to
//   gathering  max nodes are ready; or min are, and the last    running
//              call (first time) or the wait for a replacement
//              (later) is over
//              the join time-out has passed, or (later) the     finished
//              rejoin time-out with fewer than min nodes; a
//              cancel, or a preemption
//   running    every member's workers have succeeded            finished
//              a worker failed, a node was lost or goes, one    stopping
//              waits and the policy lets it in, a cancel, or a
//              preemption's grace is over
//   stopping   no member has anything left of the round         gathering or
//              (or was given up after the grace); an end by a   finished
//              SIGKILL waits a moment for its node's death
//
// A preemption (job_preemption.cc) lets the members' workers end by themselves;
// whatever else happens meanwhile, no round follows.
//
// Not thread-safe; performs nothing. The driver calls Step with everything
// that happens, does what the step says, and calls Step with TimePassed when
// NextDeadline has come. A step that comes much later shows that the driver
// stood still, and no node is lost, nor the job given up, by what was not read
// meanwhile (job_leases.cc). A step costs O(log n) of the nodes, save those
// that form, break or finish a world, or come so late, which cost O(n log n).
class Job {
 public:
  // `spec` must be valid. `epoch` names this life of the coordinator.
  Job(std::string run_id, uint64_t epoch, JobSpec spec, Instant now);

  // `now` must not run backwards. Reports must be sound (admission.h).
  JobStep Step(Instant now, const JobEvent& event);

  // When Step must be called with TimePassed at the latest, if nothing else
  // happens. Nothing: never.
  std::optional<Instant> NextDeadline() const;

  // O(n). Nodes: members by group rank, then the others by id.
  JobStatus Status(Instant now) const;

  const std::string& run_id() const { return run_id_; }
  JobPhase phase() const { return phase_; }
  bool finished() const { return phase_ == JobPhase::kFinished; }
  // Whether it has finished while the stream of one was broken, which has not
  // come back since. O(n).
  bool OwesVerdict() const;

 private:
  // Who ends a whole node (Slurm a step, the kernel a cgroup) sends SIGKILL to
  // one process after another: how much later than a worker's death the agent's
  // may come. A job that would end beside such a SIGKILL waits for it; a
  // restart does not.
  static constexpr Duration kKillSpread = std::chrono::milliseconds(250);

  // Why a round was broken, and what follows once it has stopped.
  struct Break {
    std::string why;
    int signal = 15;       // the first signal to the workers
    bool at_once = false;  // no grace
    StopCause cause = StopCause::kBroken;
    std::optional<Verdict> verdict;  // the job ends with it; else next round
    // The newest directive's when it broke: who has seen a later one outlived
    // the break.
    uint64_t revision = 0;
    // A worker's failure is the cause, unless a node that did not outlive the
    // break turns out to be lost (BlameLoss): what then follows instead of
    // `verdict`, and the restart that is given back.
    bool by_failure = false;
    std::optional<Verdict> otherwise;
    int restarts_spent = 0;
    // Where that failure is a hang: when its worker fell silent, and whether it
    // is stopped.
    std::optional<Instant> silent_since;
    bool stopped = false;
    std::string failed_on;  // that worker's node, which lived to tell of it
    // Where a stranger's SIGKILL ended a worker: its node, which the same hand
    // may be about to end as a whole, and when that is no more likely.
    std::string killed_on;
    Instant outlived;
    bool outlived_put_off = false;
    Instant deadline;  // members that have not stopped by then are lost
  };

  // --- what happens (job.cc)
  void On(const ReportArrived& event);
  void On(const StreamClosed& event);
  void On(const CancelAsked& event);
  void On(const DrainAsked& event);
  void On(const TimePassed&) {}
  // The node that `report` speaks for, admitted if need be; null if it was
  // refused or is stale.
  Node* Admit(StreamId stream, const Report& report);
  void TakeOver(Node& node, const Report& report);
  void TakeFailures(Node& node, const Report& report);
  void TakeLeave(Node& node, const Report& report);
  void FollowMember(Node& node, const Report& report);
  void CancelFrom(Node& node, const CancelWish& wish);
  void LeaveOut(Node& node);
  void Lose(Node& node, const std::string& why, Membership::Memory memory);

  // --- two agents for one place (job_contention.cc)
  Node* Contend(Node& holder, StreamId stream, const Report& report);
  void AnswerContender(Node& holder);
  void LoseContender(StreamId stream);
  // Who waits for the end of which node, as clauses.
  std::string SuccessorsText() const;

  // --- silence (job_leases.cc)
  // Before the step that was due then, if any was.
  void ForgiveSilence(std::optional<Instant> due);
  void PutOffOutliving(Instant due);
  void ExpireLeases();

  // --- the cluster takes the nodes away (job_preemption.cc)
  void Preempt(const Node& by, const PreemptionNotice& notice);
  // A signal to stop that comes after the notice: the grace is over.
  void EndGrace(const CancelWish& wish);
  void MindTheGrace();
  std::optional<PreemptionNotice> PreemptionNow() const;
  std::string PreemptionReason() const;
  Verdict PreemptionVerdict() const;
  // The member of the lowest rank that is here; without one any node.
  std::string SpeakerNow() const;

  // --- whose failure broke the round (job_blame.cc)
  void BreakForFailure(const Failure& failure);
  void BlameLoss(const Failure& loss);
  void BlameLeaving(const Node& leaving);
  void BlamePreemption(const Node& by);
  // The failure is not the cause: undoes what it led to.
  void Excuse(const std::string& node_id, const std::string& why);
  // The members have been told another cause.
  void RetellMembers();
  bool HasNotSeenBreak(const Node& node) const;
  bool ExplainsBreak(const Node& lost) const;
  void SuspectKill(const Failure& failure);
  bool StillProvingLife() const;
  bool BlameLikelierHang(const Failure& failure);
  std::string WhyOf(const Failure& failure) const;
  std::string DoubtAbout(const Failure& failure) const;

  // --- phases (job_phases.cc)
  void Reconsider();
  void ConsiderGathering();
  void ConsiderRunning();
  void ConsiderStopping();
  void FormWorld();
  void BreakRound(Break reason);
  void BreakForMembership(const std::string& why, StopCause cause);
  void Cancel(const std::string& why, const CancelWish& wish);
  void StopMembers();
  void Gather();
  void TimeOut();
  void GiveUp();
  std::string Absent() const;
  // Short of `who_knows`, which has been told of itself; null: nobody.
  std::string KeptOut(const Node* who_knows) const;
  void Finish(Verdict verdict);
  Verdict NewVerdict(Outcome outcome, int exit_code, std::string reason) const;
  Verdict SuccessVerdict() const;
  bool SpareWaits() const;
  void EnterPhase(JobPhase phase);
  // When whoever keeps this phase waiting is given up, if anybody does.
  std::optional<Instant> PhaseLimit() const;
  Instant PutOff(Instant limit) const;
  std::optional<Instant> PhaseDeadline() const;

  // The node whose report this step takes, and the newest directive of this
  // epoch that it has seen on this stream (0: none). Gone once it is told.
  struct Question {
    std::string node_id;
    uint64_t seen_revision = 0;
    bool answered = false;  // it has been told something since
  };
  void Answer();

  // --- what nodes are told (job_directives.cc)
  Directive DirectiveFor(const Node& node) const;
  DirectiveKey KeyFor(const Node& node) const;
  // While it is here the same one, so that each wording is said once.
  void KeepSpeaker();
  // Directive::said_here, of a directive of `key`.
  bool IsSaidBy(const Node& node, const DirectiveKey& key) const;
  // For `node`; null: for everybody.
  std::string WaitReason(const Node* node) const;
  void Tell(Node& node);
  void TellStream(StreamId stream, DirectiveKind kind, std::string reason);
  void Refuse(StreamId stream, const Objection& objection);
  StopOrder StopOrderFor(int round) const;

  void Note(std::string kind, const std::string& node_id, std::string reason);

  const std::string run_id_;
  const uint64_t epoch_;
  const JobSpec spec_;
  const Instant born_;
  Instant now_;
  JobStep step_;

  Membership nodes_;
  // Connections of agents that wait for the end of another incarnation.
  struct Successor {
    std::string node_id;  // of the place
    std::string host;     // its own
  };
  std::map<StreamId, Successor> successors_;
  JobPhase phase_ = JobPhase::kGathering;
  Instant phase_since_;
  // Its limit was put off until then (ForgiveSilence).
  std::optional<Instant> put_off_;
  std::string why_;  // why the job is in this phase

  int round_ = 0;
  // The highest round that a node claims to have run, under this coordinator or
  // an earlier one. The next round's number is above it; the current round's
  // never changes under its members.
  int claimed_round_ = 0;
  World world_;  // of `round_`; once broken, the one before the next
  bool first_gathering_ = true;
  std::optional<Instant> enough_since_;  // min_nodes have been ready since
  // Of a later gathering: fewer than min_nodes have been here since.
  std::optional<Instant> too_few_since_;
  Break break_;
  FailureLog failures_;
  std::vector<SignalNotice> signals_;  // forwarded to every worker, the last
  uint64_t newest_signal_ = 0;
  int restarts_used_ = 0;
  struct Preemption {
    PreemptionNotice notice;  // without what is left
    Instant deadline;         // then workers are stopped
  };
  std::optional<Preemption> preemption_;
  // While gathering, breaking a round and once finished: the node that speaks
  // and acts for the job.
  std::string speaker_;
  uint64_t revision_ = 0;
  uint64_t wording_ = 1;
  std::optional<Verdict> verdict_;
  std::optional<Question> question_;  // of the step under way
};

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_JOB_JOB_H_
