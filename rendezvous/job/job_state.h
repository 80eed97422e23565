#ifndef MUSTER_RENDEZVOUS_JOB_JOB_STATE_H_
#define MUSTER_RENDEZVOUS_JOB_JOB_STATE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "rendezvous/job/adoption.h"
#include "rendezvous/job/blame.h"
#include "rendezvous/job/gathering.h"
#include "rendezvous/job/job_ledger.h"
#include "rendezvous/job/membership.h"
#include "rendezvous/job/restart_backoff.h"
#include "rendezvous/job/stopping.h"
#include "rendezvous/job/world.h"
#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::rendezvous {

// A preemption: the cluster takes the job's nodes away.
struct Preemption {
  PreemptionNotice notice;  // without the field `left`
  Instant deadline;         // time at which the workers are stopped
};

// An agent that waits for the end of another incarnation of its node.
struct Successor {
  std::string node_id;  // id of the node whose place the agent waits for
  std::string host;     // host of the waiting agent
};

// The nodes of a world that began on all of its nodes, or may have. Where other
// nodes may take over from the coordinator, no other world forms without half
// of them: then no other coordinator has a majority.
struct Electors {
  WorldId world;
  int nodes = 0;  // 0: there was no such world
  struct Elector {
    int rank = 0;
    uint64_t incarnation = 0;
    // Whether the agent has left the job by its own wish, so that it elects
    // nobody any more.
    bool is_gone = false;
  };
  std::map<std::string, Elector> known;  // by node id
  int gone = 0;                          // number of those that are gone
  std::vector<std::string> members;      // Electorate::members

  // The group rank of the agent if it is an elector; else -1. An agent that
  // was started again has forgotten what it promised. With Takeover::kAuto it
  // is an elector nevertheless.
  int RankOf(const NodeIdentity& node, Takeover takeover) const;
};

// The whole state of one job, as a value. Job changes it; the functions below
// and those of directives.h only read it.
struct JobState {
  std::string run_id;
  uint64_t epoch = 0;  // identifies this run of the coordinator
  // Where this coordinator's process listens, if other nodes of the job may
  // take over from it; empty: nobody takes over.
  std::string own_endpoint;
  Electors electors;  // of the newest world that is known to have begun
  // The worlds since then, of which a node may have begun without a report that
  // has come.
  std::vector<Electors> unsettled;
  // Directive::standbys and host_rank, for the newest world.
  std::vector<std::string> standbys;
  int host_rank = -1;
  // The adopted round's member whose process coordinated it, until it comes to
  // this coordinator: its group rank, and when it counts as lost.
  std::optional<int> lost_host;
  std::string lost_host_name;  // its node id; "" if unknown
  Instant lost_host_at;
  JobSpec spec;
  Instant born;
  Instant now;  // time of the newest step

  Membership nodes;
  std::map<StreamId, Successor> successors;  // keyed by the agent's stream

  JobPhase phase = JobPhase::kGathering;
  PhaseClock clock;   // start of `phase`, and postponement of its limit
  std::string why;    // the reason of the current phase, a sentence
  Adoption adoption;  // of a round that an earlier coordinator began
  Gathering gathering;
  Stopping stopping;  // stop of the newest broken round
  RestartBackoff backoff;
  Blame blame;  // failures of the newest round
  std::optional<Preemption> preemption;
  std::optional<Verdict> verdict;  // set once the job has finished
  JobLedger ledger;
  // The highest step that any worker has reported, here or, as the nodes say,
  // to an earlier coordinator; -1: none.
  int64_t reached_step = -1;

  int round = 0;
  // The highest round that any node reports to have run, under this coordinator
  // or an earlier one. The next round's number is above it; the number of the
  // current round never changes.
  int claimed_round = 0;
  std::string run_tag;  // Place::run_tag; fixed once the first world has formed
  World world;  // the world of `round`; while gathering, the previous one
  // The newest kMaxSignalNotices signals, which every worker of the round gets.
  std::vector<SignalNotice> signals;
  // Ordinal of the newest signal; increases over all rounds.
  uint64_t newest_signal = 0;
  int restarts_used = 0;
  // Number of changes of what a JobRecord keeps, as far as a new coordinator
  // would not learn it from the nodes' reports.
  uint64_t changes = 0;
  // The node that prints and acts for the job while the job is gathering,
  // stopping or finished.
  std::string speaker;

  bool finished() const { return phase == JobPhase::kFinished; }
  void Enter(JobPhase next);
};

// The number of nodes that a text names before it is cut.
inline constexpr size_t kMaxNamedNodes = 8;

// Whether a node waits and the round may be broken to let it in.
bool SpareWaits(const JobState& state);

// The nodes on which a count depends: all of the job's, or those that are
// ready.
enum class Among { kAll, kReady };
// The newest world of which too few nodes are here for a further one; null:
// none. O(1) unless there are unsettled worlds.
const Electors* LackingWorld(const JobState& state, Among among);
// The number of its nodes that are here or gone. O(n).
int NodesHere(const JobState& state, const Electors& world, Among among);

// The worlds of which a majority may elect another coordinator.
std::vector<const Electors*> WorldsThatElect(const JobState& state);

// While stopping with a verdict, where other nodes may take over: the time
// until which the verdict waits for a majority of these worlds to see the order
// to stop, which has the verdict's exit code. A coordinator that takes over
// then ends the job in the same way. nullopt: the verdict need not wait. O(n).
std::optional<Instant> AwaitsWitnesses(const JobState& state);

// The time at which the members of the running round that have not started its
// workers are given up; nullopt: all have started.
std::optional<Instant> StartLimit(const JobState& state);
// The time at which the nodes that delay this phase are given up; nullopt: the
// phase has no such limit.
std::optional<Instant> PhaseLimit(const JobState& state);
// The time of the next step that the phase needs without an event.
std::optional<Instant> PhaseDeadline(const JobState& state);

// The id of the connected member with the lowest rank: the one node that prints
// for the job. Without such a member, the id of any connected node; "" if there
// is none.
std::string ChooseSpeaker(const JobState& state);

// The failure in words: rank, host, message. A failure without a rank is a
// node's, and its message names the host.
std::string Describe(const Failure& failure);
// The reason of a break by `failure`. Adds that the root of the round's NCCL id
// was lost, if so, because a worker that waited for that root fails with a
// message that does not mention the root. Warns if a blamed hang may not be the
// cause: workers of several nodes that wait for one another fall silent at
// about the same time, in an order that proves nothing. O(n).
std::string ReasonOfBreak(const JobState& state, const Failure& failure);

// Why no round begins at `now` although enough nodes are ready, and when one
// does; "" if the back-off is over.
std::string BackoffText(const JobState& state, Instant now);

std::string PreemptionReason(const JobState& state);
// The verdict of a preempted job. A failure during a preemption changes neither
// outcome nor exit code: its worker may be a victim of the cluster's actions,
// and the job is to be run again. The reason names the failure, because the
// last checkpoint may be incomplete.
Verdict PreemptionVerdict(const JobState& state);
Verdict NewVerdict(Outcome outcome, int exit_code, std::string reason);

// A clause that lists the absent nodes as far as they are known: members of the
// previous world with how each left, or before the first world the node ranks
// or indices that no present node has. O(n log n).
std::string Absent(const JobState& state);
// A clause that lists the unhealthy nodes with their reasons. Omits `except`,
// whose own directive already has the reason; null: omits no node.
std::string KeptOut(const JobState& state, const Node* except);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_JOB_STATE_H_
