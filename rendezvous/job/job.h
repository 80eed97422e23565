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
//              by a SIGKILL, it first waits Blame::kKillSpread
//
// A preemption gives the members' workers time to end by themselves. No round
// follows a preemption, whatever else happens meanwhile.
//
// Job applies the events to its JobState. Values of the state decide when a
// gathering ends (Gathering), which failure is the cause of a break (Blame) and
// what follows the stop of a round (Stopping); directives.h decides what each
// node is told.
//
// Not thread-safe. Job performs no I/O and reads no clock: the driver calls
// Step for each event, carries out the returned JobStep, and calls Step with
// TimePassed once NextDeadline is reached. A step that comes much later than
// its deadline shows that the coordinator itself stood still. Unread messages
// of that time then cause no loss of a node and no time-out of the job
// (ForgiveSilence). A step costs O(log n) of the number of nodes, except that
// steps that form, break or finish a world, or that come too late, cost
// O(n log n).
class Job {
 public:
  // `spec` must be valid. `epoch` identifies this run of the coordinator.
  // `run_tag`: Place::run_tag, unless the nodes report one of an earlier
  // coordinator.
  // `own_endpoint`: JobState::own_endpoint.
  Job(std::string run_id, uint64_t epoch, JobSpec spec, Instant now,
      std::string run_tag = "", std::string own_endpoint = "");

  // Continues a job from the state that another coordinator has recorded
  // (StateOf).
  explicit Job(JobState state);

  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // `now` must not decrease. Reports must have passed Unsound (admission.h).
  JobStep Step(Instant now, const JobEvent& event);

  // The latest time at which Step must be called with TimePassed if no other
  // event arrives. nullopt: no deadline.
  std::optional<Instant> NextDeadline() const;

  // What a new coordinator must know of the job, as of the newest step. O(n).
  JobRecord Record() const { return RecordOf(state_); }

  JobStatus Status(Instant now) const { return StatusOf(state_, now); }
  JobStatus Summary(Instant now) const { return SummaryOf(state_, now); }

  const std::string& run_id() const { return state_.run_id; }
  JobPhase phase() const { return state_.phase; }
  bool finished() const { return state_.finished(); }
  // Whether this coordinator has begun a round.
  bool has_begun() const { return state_.round > 0; }
  // Whether this coordinator may tell others that it coordinates the job: it
  // has a majority of the electors.
  bool MayAnnounce() const;
  // Whether it should ask others for a newer coordinator: it has no majority,
  // or was perhaps started again.
  bool MayAsk() const;
  uint64_t epoch() const { return state_.epoch; }
  // Where others may be told of it: Directive::standbys.
  const std::vector<std::string>& standbys() const { return state_.standbys; }
  // Whether the job has finished while an agent's stream was broken, and that
  // agent has not yet come back to get the verdict. O(n).
  bool OwesVerdict() const;

 private:
  // --- events and nodes (job.cc)
  void On(const ReportArrived& event);
  void On(const StreamClosed& event);
  void On(const AgentDied& event);
  void On(const CancelAsked& event);
  void On(const DrainAsked& event);
  void On(const CoordinatorTold& event);
  // Returns the node of the report, admitted if it is new; null if the report
  // is stale or its node was refused or has to wait.
  Node* Admit(const ReportArrived& event);
  // Decides between two agents that claim one place: an agent that was started
  // anew, a replacement that arrives before the replaced agent has ended, or a
  // mistake of configuration. Returns the node if the report's agent gets the
  // holder's place.
  Node* Contend(Node& holder, const ReportArrived& event);
  // Refuses the sender of a report that names the incarnation of another agent
  // but does not show its key.
  void RefuseImpostor(const ReportArrived& event);
  // Copies the report's state of the node, and forwards its new signals. A
  // report that shows that the node is alive refuses the node's contender,
  // unless the contender waits.
  void TakeOver(Node& node, const Report& report);
  // Applies the states of the workers, the failures and the requests in the
  // node's report.
  void Apply(Node& node, const Report& report);
  // Makes the node an elector if its report shows that it is one, and this
  // coordinator has not known: it came after the world was adopted or given up.
  void JoinElectors(Node& node, const Report& report);
  // Gives the node its place in an adopted round, if the round lacks the node.
  void JoinAdopted(Node& node, const Report& report);
  // Adds the node's time and its workers' steps to the job's.
  void FollowTime(Node& node, const Report& report);
  void TakeFailures(Node& node, const Report& report);
  // Follows the progress of a member within the current round.
  void FollowMember(Node& node, const Report& report);
  void CancelFrom(Node& node, const CancelWish& wish);
  // Removes a node that leaves the job because of `why`.
  void LeaveOut(Node& node, const std::string& why);
  void Lose(Node& node, const std::string& why, Membership::Memory memory);
  // Grants silent nodes more time after a standstill of the coordinator. `due`
  // is the value of NextDeadline before this step.
  void ForgiveSilence(std::optional<Instant> due);
  void ExpireLeases();

  // --- phases (job_phases.cc)
  // If the reports or the deadline decide a pending adoption: adopts the round,
  // or gives the round up.
  void ConsiderAdoption();
  // Raises the number of used restarts to the number in the report, but not
  // above max_restarts. Never lowers the number.
  void SpendAsTold(const Report& report);
  void AdoptRound(const std::map<std::string, Report>& reports);
  // Makes the nodes of the newest world that the reports name the electors,
  // although its adoption is given up: it may go on elsewhere.
  void KeepElectors(const std::map<std::string, Report>& reports);
  // The agent of this elector leaves for good, and elects nobody any more.
  void CountAsGone(Node& node);
  // Makes the nodes of the current world the electors.
  void Elect();
  // Chooses who takes over from this coordinator in the current world.
  void ChooseStandbys();
  // Finds out whether the node whose process coordinated the adopted round is
  // missing (JobState::lost_host).
  void FindLostHost(const std::map<std::string, Report>& reports);
  // Breaks the round because that node is lost, or makes its loss the cause of
  // the break.
  void LoseHost();
  // Stops an adopted round that an earlier coordinator had ended, for the same
  // reason and with the same exit code. `end`: the stop order of the earlier
  // coordinator, as a node has reported it.
  void EndAdopted(const RoundEnd& end,
                  const std::map<std::string, Report>& reports);
  void ConsiderGathering();
  void ConsiderRunning();
  void ConsiderStopping();
  // Enters the end of the round that has stopped in the ledger.
  void CountIncident();
  // Counts the end of the round that has stopped, and returns the delay before
  // the next one.
  Duration DelayOfNextRound();
  void FormWorld();
  // Stops the round. `failure`: the worker's failure that is the cause, unless
  // another event explains it; null: the cause is final.
  void BreakRound(const std::string& why, Stopping stopping,
                  const Failure* failure = nullptr);
  void BreakForFailure(const Failure& failure);
  // Ends the job with `verdict`, now that no worker is left. Where other nodes
  // may take over, a majority is told first (AwaitsWitnesses).
  void Conclude(const Verdict& verdict);
  // Makes another event the cause of a break that a failure began, and
  // withdraws the failure's consequence.
  void Excuse(const std::string& node_id, const std::string& why);
  // Records `why` as the reason of the break, and tells it to the members.
  // It is a new order to stop: its exit code, too, may have changed.
  void Reblame(const std::string& node_id, const std::string& why,
               const Blame::Move& move);
  void Cancel(const std::string& why, const CancelWish& wish);
  void Preempt(const Node& by, const PreemptionNotice& notice);
  void Finish(Verdict verdict);
  // Sends each member its directive.
  void TellMembers();

  JobState state_;
  Outbox outbox_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_JOB_H_
