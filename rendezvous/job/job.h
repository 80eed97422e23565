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

namespace muster::rendezvous {

// Membership and rounds of one job, as a pure state machine:
//
//   phase      ends when                                        next phase
//   gathering  max nodes are ready; or min nodes are, and the   running
//              last call (first gathering) or the wait for a
//              replacement (later ones) is over
//              the join time-out has passed; or (later ones)    finished
//              the rejoin time-out with fewer than min nodes;
//              or on a cancel or a preemption
//   running    all workers of all members have succeeded        finished
//              a worker failed, a node was lost or leaves, a    stopping
//              waiting node is let in, a cancel, or the grace
//              of a preemption is over
//   stopping   no member has a process of the round left, or    gathering or
//              was given up after the grace. If the job ends    finished
//              by a SIGKILL, it first waits for kKillSpread
//
// A preemption (job_preemption.cc) gives the members' workers time to end by
// themselves. No round follows a preemption, whatever else happens meanwhile.
//
// Not thread-safe. Job performs no I/O and reads no clock: the driver calls
// Step for each event, carries out the returned JobStep, and calls Step with
// TimePassed once NextDeadline is reached. A step that comes much later than
// its deadline shows that the coordinator itself stood still. Unread messages
// of that time then cause no loss of a node and no time-out of the job
// (job_leases.cc). A step costs O(log n) of the number of nodes, except that
// steps that form, break or finish a world, or that come too late, cost
// O(n log n).
class Job {
 public:
  // `spec` must be valid. `epoch` identifies this run of the coordinator.
  // `run_tag`: Place::run_tag, unless the nodes report one of an earlier
  // coordinator.
  Job(std::string run_id, uint64_t epoch, JobSpec spec, Instant now,
      std::string run_tag = "");

  // `now` must not decrease. Reports must have passed Unsound (admission.h).
  JobStep Step(Instant now, const JobEvent& event);

  // The latest time at which Step must be called with TimePassed if no other
  // event arrives. nullopt: no deadline.
  std::optional<Instant> NextDeadline() const;

  // O(n log n). Nodes: members by group rank, then the others by id.
  JobStatus Status(Instant now) const;

  const std::string& run_id() const { return run_id_; }
  JobPhase phase() const { return phase_; }
  bool finished() const { return phase_ == JobPhase::kFinished; }
  // Whether the job has finished while an agent's stream was broken, and that
  // agent has not yet come back to get the verdict. O(n).
  bool OwesVerdict() const;

 private:
  // Slurm (a job step) and the kernel (a cgroup) end a whole node by sending
  // SIGKILL to one process after another. kKillSpread is the longest time
  // between the SIGKILL of a worker and the SIGKILL of its agent. A job that is
  // about to end after such a SIGKILL waits this long; a restart does not wait.
  static constexpr Duration kKillSpread = std::chrono::milliseconds(250);

  // The cause of the break of a round, and the consequence once all members
  // have stopped.
  struct Break {
    std::string why;
    int signal = 15;       // the first signal sent to the workers
    bool at_once = false;  // SIGKILL at once, without the grace
    StopCause cause = StopCause::kBroken;
    // Ends the job; nullopt: a new round follows.
    std::optional<Verdict> verdict;
    // The newest revision at the time of the break. A node that has seen a
    // later revision was alive after the break.
    uint64_t revision = 0;
    // Whether a worker's failure is the cause. BlameLoss may still replace it
    // by the loss of a node that did not outlive the break: then `otherwise`
    // takes the place of `verdict`, and `restarts_spent` restarts are given
    // back.
    bool by_failure = false;
    std::optional<Verdict> otherwise;
    int restarts_spent = 0;
    // Only if the failure is a hang: the time at which its worker fell silent,
    // and whether that worker is stopped by a signal.
    std::optional<Instant> silent_since;
    bool stopped = false;
    // The failed worker's node, which reported the failure.
    std::string failed_on;
    // Only if a SIGKILL that Muster did not send ended a worker: that worker's
    // node, which the same sender may be about to kill as a whole, and the time
    // from which the node counts as having outlived that SIGKILL.
    std::string killed_on;
    Instant outlived;
    bool outlived_put_off = false;
    // Members that have not stopped by then are lost.
    Instant deadline = Instant::max();
  };

  // --- events (job.cc)
  void On(const ReportArrived& event);
  void On(const StreamClosed& event);
  void On(const CancelAsked& event);
  void On(const DrainAsked& event);
  void On(const TimePassed&) {}
  // Returns the node of `report`, admitted if it is new; null if the report is
  // stale or its node was refused or has to wait.
  Node* Admit(StreamId stream, const Report& report);
  void TakeOver(Node& node, const Report& report);
  void TakeFailures(Node& node, const Report& report);
  void TakeLeave(Node& node, const Report& report);
  void FollowMember(Node& node, const Report& report);
  void CancelFrom(Node& node, const CancelWish& wish);
  void LeaveOut(Node& node);
  void Lose(Node& node, const std::string& why, Membership::Memory memory);
  // Keeps for the verdict how a node of the newest world went. The first reason
  // holds: one that leaves is lost as well, later.
  void RememberDeparture(const Node& node, const std::string& how);

  // --- two agents for one place (job_contention.cc)
  Node* Contend(Node& holder, StreamId stream, const Report& report);
  void AnswerContender(Node& holder);
  void LoseContender(StreamId stream);
  // Returns a clause for each agent that waits for another incarnation of its
  // node to end (Contend): the agent's host and the node.
  std::string SuccessorsText() const;

  // --- silence (job_leases.cc)
  // `due` is the value of NextDeadline before this step.
  void ForgiveSilence(std::optional<Instant> due);
  void PutOffOutliving(Instant due);
  void ExpireLeases();

  // --- preemption: the cluster takes the nodes away (job_preemption.cc)
  void Preempt(const Node& by, const PreemptionNotice& notice);
  // Handles a signal to stop that follows the notice: ends the grace now.
  void EndGrace(const CancelWish& wish);
  void MindTheGrace();
  std::optional<PreemptionNotice> PreemptionNow() const;
  std::string PreemptionReason() const;
  Verdict PreemptionVerdict() const;
  // The id of the connected member with the lowest rank; if there is none, the
  // id of any connected node.
  std::string SpeakerNow() const;

  // --- blame: the failure that broke the round (job_blame.cc)
  void BreakForFailure(const Failure& failure);
  void BlameLoss(const Failure& loss);
  void BlameLeaving(const Node& leaving);
  void BlamePreemption(const Node& by);
  // Undoes the consequences of a failure that was wrongly taken for the cause.
  void Excuse(const std::string& node_id, const std::string& why);
  // Sends the members their unchanged directive with the new cause.
  void RetellMembers();
  bool HasNotSeenBreak(const Node& node) const;
  bool ExplainsBreak(const Node& lost) const;
  void SuspectKill(const Failure& failure);
  bool StillProvingLife() const;
  bool BlameLikelierHang(const Failure& failure);
  bool BlameRaisedFirst(const Failure& failure);
  void MoveBlame(const Failure& failure, const char* decision,
                 const char* instead_of);
  static std::string Named(const Failure& failure);
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
  // The unhealthy nodes and why they are unhealthy, without `who_knows`, whose
  // own directive already tells it; null: all of them.
  std::string KeptOut(const Node* who_knows) const;
  void Finish(Verdict verdict);
  Verdict NewVerdict(Outcome outcome, int exit_code, std::string reason) const;
  Verdict SuccessVerdict() const;
  bool SpareWaits() const;
  void EnterPhase(JobPhase phase);
  // The time at which the nodes that delay this phase are given up; nullopt:
  // the phase has no such limit.
  std::optional<Instant> PhaseLimit() const;
  Instant PutOff(Instant limit) const;
  std::optional<Instant> PhaseDeadline() const;

  // The node whose report this step handles, and the newest revision of this
  // epoch that the node has seen on this stream (0: none). nullopt in other
  // steps.
  struct Question {
    std::string node_id;
    uint64_t seen_revision = 0;
    bool answered = false;  // a directive was sent to it in this step
  };
  void Answer();

  // --- directives (job_directives.cc)
  Directive DirectiveFor(const Node& node) const;
  DirectiveKey KeyFor(const Node& node) const;
  // Chooses a new speaker only if the current one is gone, so that each text is
  // shown once.
  void KeepSpeaker();
  // The value of Directive::said_here for a directive of `key`.
  bool IsSaidBy(const Node& node, const DirectiveKey& key) const;
  // The reason for `node` to wait; null: the reason without texts of one node,
  // for the status.
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
  // Agents that wait for the end of another incarnation of their node, by their
  // connection.
  struct Successor {
    std::string node_id;  // the node whose place it waits for
    std::string host;     // its own host
  };
  std::map<StreamId, Successor> successors_;
  JobPhase phase_ = JobPhase::kGathering;
  Instant phase_since_;
  // The time until which this phase's limit was put off (ForgiveSilence).
  std::optional<Instant> put_off_;
  std::string why_;  // the reason of the current phase, a sentence

  int round_ = 0;
  // The highest round that any node reports to have run, under this coordinator
  // or an earlier one. The next round's number is above it; the number of the
  // current round never changes.
  int claimed_round_ = 0;
  std::string run_tag_;  // fixed once the first world has formed
  World world_;  // the world of `round_`; while gathering, the previous one
  bool first_gathering_ = true;
  // Since then min_nodes or more have been ready.
  std::optional<Instant> enough_since_;
  // Only in a later gathering: since then fewer than min_nodes are here.
  std::optional<Instant> too_few_since_;
  Break break_;
  FailureLog failures_;
  // Forwarded to every worker; the newest few.
  std::vector<SignalNotice> signals_;
  uint64_t newest_signal_ = 0;
  int restarts_used_ = 0;
  struct Preemption {
    PreemptionNotice notice;  // without `left`
    Instant deadline;         // the workers are stopped then
  };
  std::optional<Preemption> preemption_;
  // The node that prints and acts for the job while the job is gathering,
  // stopping or finished.
  std::string speaker_;
  uint64_t revision_ = 0;
  uint64_t wording_ = 1;
  std::optional<Verdict> verdict_;
  std::optional<Question> question_;  // set only during the step of a report
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_JOB_H_
