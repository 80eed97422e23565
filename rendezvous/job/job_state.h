#ifndef MUSTER_RENDEZVOUS_JOB_JOB_STATE_H_
#define MUSTER_RENDEZVOUS_JOB_JOB_STATE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "rendezvous/job/adoption.h"
#include "rendezvous/job/blame.h"
#include "rendezvous/job/earlier_round.h"
#include "rendezvous/job/electors.h"
#include "rendezvous/job/gathering.h"
#include "rendezvous/job/job_ledger.h"
#include "rendezvous/job/membership.h"
#include "rendezvous/job/pair_checks.h"
#include "rendezvous/job/restart_backoff.h"
#include "rendezvous/job/standbys.h"
#include "rendezvous/job/stopping.h"
#include "rendezvous/job/world.h"
#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/job_status.h"
#include "rendezvous/stragglers/straggler_watch.h"

namespace muster::rendezvous {

// A preemption: the cluster will take the job's nodes away.
struct Preemption {
  PreemptionNotice notice;  // the notice; `deadline` replaces its field `left`
  // time at which the grace period of the preemption ends and the workers are
  // stopped
  Instant deadline;
};

// An agent that waits for a node's place, which another agent still holds.
struct Successor {
  std::string node_id;  // id of the node whose place the agent waits for
  std::string host;     // host of the agent that waits
};

// The whole state of one job, as a value. Job changes it; the functions below
// and in directives.h only read it.
struct JobState {
  std::string run_id;
  uint64_t epoch = 0;  // identifies this run of the coordinator
  // The endpoint of this coordinator, if it runs in the process of a node and
  // other nodes can take over from it. Empty: no takeover is possible.
  std::string own_endpoint;
  Electors electors;  // empty: no world is known
  // `later.world.round` is 0 if no world has formed after the world of
  // `electors`. It is also 0 in a job whose min_nodes is more than half of its
  // max_nodes, because two worlds never run at once there
  // (JobSpec::RestartedAgentsElect).
  LaterWorld later;
  Standbys standbys;
  // What this coordinator hands over to `standbys` (Directive::handover).
  Handover handover;
  // The agents that an earlier coordinator has released (Handover::released);
  // nullopt: it has handed over nothing.
  std::optional<std::vector<Handover::Released>> released_before;
  // The node whose process coordinated the adopted round, while that node has
  // not reported to this coordinator; nullopt: no such node is missing.
  std::optional<LostHost> lost_host;
  JobSpec spec;
  Instant born;
  Instant now;  // time of the newest call of Job::Step

  Membership nodes;
  // The agents that wait for a node's place, by the stream of the waiting
  // agent.
  std::map<StreamId, Successor> successors;

  JobPhase phase = JobPhase::kGathering;
  // The start of `phase`, and how long its time limit is postponed.
  PhaseClock clock;
  std::string why;  // reason of the current phase, a sentence
  // The adoption of a round that an earlier coordinator began.
  Adoption adoption;
  Gathering gathering;
  Stopping stopping;  // how the newest broken round is stopped
  RestartBackoff backoff;
  Blame blame;  // the newest round's failures, and why it broke
  std::optional<Preemption> preemption;
  std::optional<Verdict> verdict;  // set once the job has finished
  JobLedger ledger;
  // How long nodes gathered before a round (JobStatus::rendezvous_times).
  DurationHistogram rendezvous_times;
  // Times from the early end of a round until all nodes run a later round
  // (JobStatus::recovery_times).
  DurationHistogram recovery_times;
  // Time of the first break after the last round that began on all of its
  // nodes; nullopt: no break since then.
  std::optional<Instant> broken_at;
  PairChecks checks;  // the checks by pairs before rounds
  // The slow ranks of the round with the number `round`. A coordinator that
  // takes over begins without them.
  StragglerWatch stragglers;
  // The machines that the coordinator suspects, quarantines or bans, by its
  // newest judgement; null: no machine is suspected.
  std::shared_ptr<const HostView> hosts;
  // Whether the job has found faults of machines that the coordinator has not
  // recorded yet. While this is true, no world forms.
  bool awaits_judgement = false;
  // The highest training step that any worker has reported to this coordinator
  // or, according to the nodes, to an earlier one; -1: none.
  int64_t reached_step = -1;

  int round = 0;
  // The highest number of a round that any node has run, by its reports, under
  // this or an earlier coordinator. The next round gets a higher number, so
  // that no two rounds have the same one.
  int claimed_round = 0;
  // The run tag, which names the run's log folder (Place::run_tag). It does not
  // change once the first world has formed.
  std::string run_tag;
  // The world of `round`; while gathering, the world of the previous round.
  World world;
  // The newest kMaxSignalNotices signals; all workers of the round receive
  // them.
  std::vector<SignalNotice> signals;
  // Number of the newest signal in `signals`. It is not reset when a round
  // begins.
  uint64_t newest_signal = 0;
  int restarts_used = 0;
  // The verdict in the record of an earlier coordinator (Job::Recall). The job
  // ends with it, unless another coordinator deposes this one before.
  std::optional<Verdict> recalled;
  EarlierRound earlier;
  // The newest world that any node has reported, as its place or its
  // electorate.
  WorldId newest_reported;
  // Counts the changes of the state that a new coordinator could not learn from
  // the nodes' reports. Whenever this number has changed, a new JobRecord must
  // be written.
  uint64_t changes = 0;
  // Id of the node that prints for the whole job while the job is gathering,
  // stopping or finished.
  std::string speaker;

  bool finished() const { return phase == JobPhase::kFinished; }
  void Enter(JobPhase next);
};

// Minimum time for which a coordinator that may have been restarted gathers
// before it acts for the job. In this time it learns of any other coordinator
// that runs the job, and the nodes stop obeying orders from before the restart.
Duration TimeToLearn(const JobSpec& spec);

// Maximum number of nodes that a text lists before it is cut.
inline constexpr size_t kMaxNamedNodes = 8;

// Returns `slow` with its node id, host and local rank filled in from the
// world, and with its GPU if its node has told it. O(n).
SlowRank Located(const JobState& state, SlowRank slow);

// The number of ready nodes that the gathering counts: those on machines that
// are not quarantined. If these are fewer than min_nodes, nodes on quarantined
// machines count as well, up to min_nodes.
int UsableNodes(const JobState& state);
// The number of nodes that could take another node's place: ready and not
// quarantined.
int GoodSpares(const JobState& state);
// Whether the network or a node may have caused the end of the round that is
// being stopped. If so, the nodes must be checked by pairs
// (PairChecks::Suspect).
bool IsSuspicious(const JobState& state);

// Returns how many nodes a new world still lacks: min_nodes minus the number of
// nodes that are ready or will be soon. Negative if there are more nodes than
// needed.
//
// Nodes that the check by pairs found bad do not count. Quarantined nodes
// count, because they get a place before nodes that the check found bad. The
// result is at least 1 if enough electors (nodes that elect a coordinator) are
// present for a new world, but too few of them are ready.
int MissingNodes(const JobState& state);
// The earliest time at which nodes that the check by pairs found bad may get a
// place. Such nodes get a place only if a world would have too few nodes
// without them.
Instant WaiverTime(const JobState& state);

// Whether a spare waits and the round may be broken to include it.
bool SpareWaits(const JobState& state);

// The nodes that a count includes: all nodes of the job, or only the ready
// ones.
enum class Among { kAll, kReady };
// The number of electors among the job's present nodes. O(1).
int ElectorsHere(const JobState& state, Among among);
// Whether no new world may form: less than half of the electors are present or
// have left for good (Electors::AreHalf), and the nodes that are not connected
// are enough to form a world (OthersAreTooFew). `among`: which nodes count as
// present. O(1), but O(n log n) if OthersAreTooFew must be checked.
bool LacksElectors(const JobState& state, Among among);
// Whether no other coordinator can have a majority of the electors (the nodes
// that elect a coordinator). This is so in two cases: in each world of
// electors, at least half of them are connected here or have left the job; or
// the nodes that are not connected here are too few to form a world. False if
// no electors are known.
bool HasMajority(const JobState& state);
// Whether another process may coordinate the job's running round already: the
// connections of so many electors are broken that the others are less than half
// of the electors' world.
bool MayBeReplaced(const JobState& state);
// The number of used restarts: that of this coordinator or, if higher, the
// count in the report, but at most max_restarts.
int RestartsUsed(const JobState& state, const Report& report);
// Whether this coordinator lists the processes of the nodes that report to it
// as standbys: other nodes can take over, and it has no world yet.
bool MayListStandbys(const JobState& state);
// The ids of the nodes that were lost, may return and are no electors. O(n log
// n) for n nodes that were removed from the job.
std::set<std::string> LostNodes(const JobState& state);
// Whether the node that sent `report` may be a spare (Electorate::is_spare).
// The node is about to be added to JobState::nodes. O(n log n) if this
// coordinator has a world and the node is not in it; else O(log n).
//
// Once this coordinator has a world, a node is a spare if the job already has
// max_nodes others. Nodes that were lost or are absent from the world count
// among these, because they may have gone on without this coordinator; so do
// spares that have got places. Before, any node may be a member of an earlier
// world whose agent was started again.
bool JoinsAsSpare(const JobState& state, const Report& report);
// Whether the nodes that are not in `here` are too few to form a world under
// another coordinator. `here`: the nodes that are connected to this
// coordinator.
bool OthersAreTooFew(const JobState& state,
                     const std::vector<const Node*>& here);

// The witnesses of the job's end are the electors that have seen the stop order
// with the job's exit code. `here`: the number of witnesses that are connected.
// `left`: the number of other electors that have left the job.
struct Witnesses {
  int here = 0;
  int left = 0;
};
Witnesses WitnessesOf(const JobState& state);  // O(n log n) for n nodes
// Returns the latest time until which the end of the job waits for witnesses;
// nullopt: it need not wait.
//
// If other nodes may take over, the witnesses and the electors that have left
// must together be half of the electors (Electors::AreHalf). A coordinator that
// takes over then ends the job in the same way. If so many electors have left
// that the others can never be enough, the wait ends after a lease, because
// nodes that have left do not come back. O(n log n).
std::optional<Instant> AwaitsWitnesses(const JobState& state);

// The time at which members that have not started the running round's workers
// are declared lost; nullopt: all have started.
std::optional<Instant> StartLimit(const JobState& state);
// The time limit of the current phase; nullopt: the phase has no limit.
//
//   gathering  while an adoption is pending: its deadline; else, if an earlier
//              coordinator's record has a verdict (`recalled`): the time at
//              which the job ends with this verdict; else, if nodes know that
//              the job was cancelled: LimitOfToldCancel; else Gathering::Limit
//   running    the limit for the start of all workers (StartLimit)
//   stopping   the deadline of the stop; once all members have stopped: the
//              limit of AwaitsWitnesses
std::optional<Instant> PhaseLimit(const JobState& state);
// The time at which EarlierRound::verdict ends the job even if the job may have
// gone on elsewhere: a cancelled job waits for lost nodes only for the time of
// a lease. nullopt: the job was not cancelled.
std::optional<Instant> LimitOfToldCancel(const JobState& state);
// The time at which the current phase needs a step even without an event;
// nullopt: never.
std::optional<Instant> PhaseDeadline(const JobState& state);

// The id of the node that prints for the job. This is the connected member with
// the lowest rank or, if no member is connected, any connected node. "" if no
// node is connected.
std::string ChooseSpeaker(const JobState& state);

// Describes `failure` as the reason of a break. If the process that created the
// round's NCCL id (the root) was lost, adds this, because a worker that waited
// for that process does not report it.
//
// Adds a warning if a blamed hang may not be the cause. Workers that wait for
// one another fall silent at about the same time, so their order proves
// nothing. O(n).
std::string ReasonOfBreak(const JobState& state, const Failure& failure);

// Explains that enough nodes are ready but the back-off delays the next round,
// and when the round begins. "" if the back-off is over.
std::string BackoffText(const JobState& state, Instant now);

// Explains why no round begins: the round of JobState::later may run elsewhere.
// Says how many of its nodes have stopped, and how many must.
std::string MayRunText(const JobState& state);
std::string PreemptionReason(const JobState& state);
// The verdict of a preempted job. A failure during a preemption changes neither
// outcome nor exit code: the cluster may have caused it, and the job is to be
// run again. But the reason names the failure, because the last checkpoint may
// be incomplete.
Verdict PreemptionVerdict(const JobState& state);
// Adds to `verdict` how the job spent its time (JobTime), the numbers of
// restarts and rounds, and the job's age.
void Stamp(const JobState& state, Verdict& verdict);
Verdict NewVerdict(Outcome outcome, int exit_code, std::string reason);

// A clause that lists the absent nodes as far as they are known. After the
// first world, these are members of the previous world, and the clause says how
// each of them left. Before the first world, these are the node ranks or
// indices that no present node has. O(n log n).
std::string Absent(const JobState& state);
// A clause that lists the unhealthy nodes and their reasons. Omits `except`,
// whose own directive already contains the reason; null: omits no node.
std::string KeptOut(const JobState& state, const Node* except);
// A clause that lists the ready nodes that are quarantined, with the reasons.
// Omits `except`; null: omits no node.
std::string QuarantinedText(const JobState& state, const Node* except);
// Describes the judgement of a machine: reason and score.
std::string JudgementText(const HostJudgement& judgement);
// The judgement in `state.hosts` that is valid for the machine.
HostJudgement JudgementFor(const JobState& state, const HostKey& machine);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_JOB_STATE_H_
