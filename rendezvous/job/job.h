#ifndef MUSTER_RENDEZVOUS_JOB_JOB_H_
#define MUSTER_RENDEZVOUS_JOB_JOB_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "rendezvous/job/directives.h"
#include "rendezvous/job/job_record.h"
#include "rendezvous/job/job_state.h"
#include "rendezvous/job/job_step.h"
#include "rendezvous/job/rank_assignment.h"
#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::rendezvous {

// Membership and rounds of one job, as a pure state machine:
//
//   phase      ends when                                        next phase
//   gathering  max_nodes nodes are ready; or min_nodes are      running
//              ready, and the last call (the first gathering's
//              wait for more nodes) or the wait for a
//              replacement (in later gatherings) is over
//              the join time-out passes with fewer than         finished
//              min_nodes nodes ready; or, in a later gathering,
//              fewer than min_nodes nodes have been present for
//              the rejoin time-out; or the job is cancelled or
//              preempted
//   running    all workers of all members have succeeded        finished
//              a worker fails; a node is lost or leaves; a      stopping
//              waiting node is let in; the job is cancelled;
//              or the grace of a preemption is over
//   stopping   no member has a process of the round left, or    gathering or
//              members were given up after the grace. If a      finished
//              worker's SIGKILL is about to end the job, the
//              phase lasts 250 ms longer (Blame::kKillSpread)
//
// A preemption gives the members' workers time to end by themselves. No round
// follows a preemption, whatever else happens meanwhile.
//
// Job applies the events to its JobState. Three policy objects in the state
// decide when a gathering ends (Gathering), which failure is the cause of a
// break (Blame) and what follows the stop of a round (Stopping). The functions
// in directives.h decide which directive each node gets.
//
// Not thread-safe. Job performs no I/O and reads no clock: its owner calls Step
// for each event, carries out the returned JobStep, and calls Step with
// TimePassed once NextDeadline is reached. A step that comes much later than
// its deadline shows that the coordinator's process was suspended. Messages
// that are still unread then cause no loss of a node and no time-out of the job
// (ForgiveSilence). A step costs O(log n) of the number of nodes, except that
// steps that form, break or finish a world, or that come too late, cost O(n log
// n).
class Job {
 public:
  // Begins a job. `spec` must be valid. `epoch` identifies this run of the
  // coordinator. `run_tag`: names the run's log folder (Place::run_tag), unless
  // the nodes report the tag of an earlier coordinator. `own_endpoint`: where
  // this coordinator listens; empty: no other node can take over from it.
  Job(std::string run_id, uint64_t epoch, JobSpec spec, Instant now,
      std::string run_tag = "", std::string own_endpoint = "");

  // Continues a job from the state that another coordinator recorded; see
  // StateOf (job_record.h).
  explicit Job(JobState state);

  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // Copies some values from `record`, which an earlier coordinator wrote: the
  // number of rounds and of used restarts, the job's age, its time totals and
  // its verdict. No node can report these any more. Call it before the first
  // step, for a job whose nodes are expected to know no round. `elapsed`: the
  // estimated time since the record was written. `record` must have passed
  // CheckRecord.
  //
  // If the record has a verdict, the job begins no round. It ends with this
  // verdict after a few seconds (TimeToLearn), unless a node that knows a round
  // reports first, or another coordinator deposes this one first. A verdict of
  // a preemption or of a time-out is not taken over, because such a job may be
  // run again.
  void Recall(const JobRecord& record, Duration elapsed);

  // Takes over what an earlier coordinator has handed over to the standby that
  // is this coordinator now: its released agents get no place. Call it before
  // the first step.
  void Inherit(Handover handover);

  // Applies one event. `now` must not decrease. The caller must have checked a
  // report with Unsound (admission.h), and passes only valid reports.
  JobStep Step(Instant now, const JobEvent& event);

  // The time by which Step must be called with TimePassed if no other event
  // arrives; nullopt: no deadline.
  std::optional<Instant> NextDeadline() const;

  // Returns what a new coordinator needs to continue the job, as of the newest
  // step. O(n).
  JobRecord Record() const { return RecordOf(state_); }

  JobStatus Status(Instant now) const { return StatusOf(state_, now); }
  JobStatus Summary(Instant now) const { return SummaryOf(state_, now); }

  std::vector<NodeSeat> Seats() const { return SeatsOf(state_); }
  // Returns the newest directive that was sent on the stream; nullopt: none was
  // sent, or the stream belongs to no node of the job.
  std::optional<Directive> DirectiveOn(StreamId stream) const;

  const std::string& run_id() const { return state_.run_id; }
  int round() const { return state_.round; }
  const std::string& why() const { return state_.why; }
  JobPhase phase() const { return state_.phase; }
  bool finished() const { return state_.finished(); }
  // Whether this coordinator has begun a round.
  bool has_begun() const { return state_.round > 0; }
  // Whether this coordinator may announce to others that it coordinates the
  // job. It may if so many electors are present that no other coordinator can
  // have a majority. (Electors are the nodes that elect a coordinator.) It also
  // may if it was elected and, as far as it knows, no world of the job has
  // begun on all of its nodes.
  bool MayAnnounce() const;
  // Whether this coordinator should ask others whether a newer coordinator
  // exists. It should if too few electors are present, or if it may have been
  // restarted. Always false if no other node can take over.
  bool MayAsk() const;
  // Whether the job is gathering and has too few nodes for a world: fewer than
  // min_nodes, not counting nodes that are about to leave.
  bool AwaitsNodes() const;
  uint64_t epoch() const { return state_.epoch; }
  // Endpoints of the standbys (Directive::standbys), to which this coordinator
  // announces itself.
  const std::vector<std::string>& standbys() const {
    return state_.standbys.endpoints;
  }
  // Whether an agent still has to receive the verdict: its stream was broken
  // when the job finished, and the agent has not reconnected. O(n).
  bool OwesVerdict() const;

 private:
  // --- Functions that handle events and nodes; job.cc defines them.
  void On(const ReportArrived& event);
  void On(const StreamClosed& event);
  void On(const AgentDied& event);
  void On(const CancelAsked& event);
  void On(const DrainAsked& event);
  // Whether an earlier coordinator has released the agent. O(1): the number of
  // such agents is bounded.
  bool WasReleased(const NodeIdentity& agent) const;
  // Sends each standby that has not got the newest Handover a directive that
  // contains it. For changes that cannot wait for the standby's next report,
  // whose answer contains the Handover as well. O(n).
  void TellStandbys();
  void On(const CoordinatorTold& event);
  void On(const HostsJudged& event);
  // Returns the node that sent the report, and admits it if it is new. Null:
  // the report is stale, or the node was refused or has to wait.
  Node* Admit(const ReportArrived& event);
  // Decides between the agent that holds a place (`holder`) and another agent
  // that claims it. The claimant may be a restarted agent, a replacement that
  // arrives before the old agent has ended, or a configuration error. Returns
  // the node if the claimant takes over the place; else null.
  Node* Contend(Node& holder, const ReportArrived& event);
  // Refuses a report that names another agent's incarnation but does not
  // contain that agent's place key.
  void RefuseImpostor(const ReportArrived& event);
  // Copies the node's state from the report into `node`, and queues new signals
  // (Report::signals) for all workers of the job. If the report proves that the
  // node is alive, refuses another agent that claims the node's place. An agent
  // that has asked to wait (Report::waits_for_place) is not refused.
  void TakeOver(Node& node, const Report& report);
  // Applies the states of the workers, the failures and the requests in the
  // node's report.
  void Apply(Node& node, const Report& report);
  // Makes the node an elector (a node that elects coordinators) if its report
  // shows that it is one (Electors::Join), and updates JobState::later.
  void JoinElectors(Node& node, const Report& report);
  // Gives the node its place in the adopted round if that place is still
  // vacant.
  void JoinAdopted(Node& node, const Report& report);
  // Replaces the node's share of the job's time totals by the NodeTime in the
  // report, and updates the highest training step (JobState::reached_step).
  void FollowTime(Node& node, const Report& report);
  void TakeFailures(Node& node, const Report& report);
  // Updates the member's part in the current round (started, succeeded or
  // stopped its workers). Breaks the round if the node stopped its workers by
  // itself.
  void FollowMember(Node& node, const Report& report);
  void CancelFrom(Node& node, const CancelWish& wish);
  // Makes a node leave the job, and breaks the round if the node's workers
  // still run. `why`: the reason, for the verdict.
  void LeaveOut(Node& node, const std::string& why);
  void Lose(Node& node, const std::string& why, Membership::Memory memory);
  // Extends the leases of silent nodes after the coordinator's process was
  // suspended. `last_step`: the time of the last step. `due`: the value of
  // NextDeadline after that step.
  void ForgiveSilence(Instant last_step, std::optional<Instant> due);
  void ExpireLeases();

  // --- Functions for the changes of the job's phase; job_phases.cc defines
  // them.
  //
  // Once the reports or the deadline allow a decision, adopts the round of an
  // earlier coordinator or gives it up.
  void ConsiderAdoption();
  // `all`: the reports that Adoption has collected; `reports`: those of nodes
  // that are still in the job.
  // `decision`: kAdopt, or kStop if the round is to be stopped at once.
  void AdoptRound(Adoption::Decision decision,
                  const std::map<std::string, Report>& reports,
                  const std::vector<const Report*>& all);
  // If `report` says how an earlier coordinator ended its newest round and this
  // order counts (EarlierRound::Accepts), records the order in
  // JobState::earlier and carries it out. Called for reports that arrive after
  // that round was adopted or given up. If the node knows a newer world,
  // JobState::earlier is forgotten.
  //
  // If this coordinator was elected by nodes that did not know the earlier
  // round, that round is void. In that case records only a cancel of the newest
  // round that any node has reported, and only before a round has begun here.
  void TakeEnd(const Report& report);
  // Makes the nodes of the current world the electors (the nodes that elect a
  // coordinator). Then decides which of the job's other nodes are spares: those
  // that exceed JobSpec::max_nodes.
  void Elect();
  // Breaks the round because the node whose process was the earlier coordinator
  // (JobState::lost_host) is lost. If the round is already broken, the loss of
  // this node becomes the reason of the break.
  void LoseHost();
  // Stops an adopted round that an earlier coordinator had already stopped, for
  // the same reason and with the same exit code. `end`: the earlier
  // coordinator's stop order, as a node reports it. `reports`: all reports that
  // are known. If a report has a preemption notice, the job ends as preempted.
  void EndAdopted(const RoundEnd& end,
                  const std::vector<const Report*>& reports);
  void ConsiderGathering();
  void ConsiderRunning();
  void ConsiderStopping();
  // Removes candidates for a world, worst first: those on quarantined machines
  // while more than min_nodes candidates remain, then those on suspected
  // machines while more than max_nodes remain. Keeps at least half of the
  // electors; electors that have left for good count as kept.
  void SetAside(std::vector<Candidate>& candidates) const;
  void FormWorld();
  // Stops the round. `failure`: the worker's failure that is the cause until
  // another event replaces it; null: the cause is final.
  void BreakRound(const std::string& why, Stopping stopping,
                  const Failure* failure = nullptr);
  void BreakForFailure(const Failure& failure);
  // Ends the job with `verdict` once no worker is left. If other nodes may take
  // over from this coordinator, first waits until half of the electors know the
  // verdict (AwaitsWitnesses).
  void Conclude(const Verdict& verdict);
  // Makes another event, such as the loss of a node, the cause of the break in
  // place of a worker's failure. Gives back the restart that the failure spent,
  // or drops the verdict with which the failure would have ended the job.
  void Excuse(const std::string& node_id, const std::string& why);
  // Records `why` as the reason of the break. Sends the members a new stop
  // order that contains this reason, and the exit code, which may have changed.
  // `failure`: the new cause if a failure is the cause; else nullopt.
  void Reblame(const std::string& node_id, const std::string& why,
               const Blame::Move& move, const std::optional<Failure>& failure);
  void Cancel(const std::string& why, const CancelWish& wish);
  // Ends the job with `verdict`, that of a cancel, once the round has stopped.
  // No effect if another verdict ends the job.
  void CancelStopping(const Verdict& verdict);
  void Preempt(const Node& by, const PreemptionNotice& notice);
  void Finish(Verdict verdict);
  // Sends each member, and each other node that has a stop order, its current
  // directive.
  void TellMembers();

  JobState state_;
  Outbox outbox_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_JOB_H_
