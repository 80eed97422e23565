#ifndef MUSTER_RENDEZVOUS_PROTOCOL_JOB_STATUS_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_JOB_STATUS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/node_fault.h"
#include "rendezvous/protocol/progress.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/protocol/time_ledger.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::rendezvous {

// Counts durations in fixed buckets, as a histogram of Prometheus. Pure.
struct DurationHistogram {
  // Upper bounds of the buckets in seconds, inclusive.
  static constexpr std::array<double, 13> kBounds = {
      0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800};

  // Number of durations in each bucket; the last one has no upper bound.
  std::array<int64_t, kBounds.size() + 1> counts = {};
  double sum_s = 0;  // sum of all durations in seconds

  void Add(Duration duration) {
    const double seconds = ToSeconds(duration);
    ++counts[std::lower_bound(kBounds.begin(), kBounds.end(), seconds) -
             kBounds.begin()];
    sum_s += seconds;
  }
  bool operator==(const DurationHistogram&) const = default;
};

enum class JobPhase { kGathering, kRunning, kStopping, kFinished };

// How a worker has spent its time since its first collective, as operators see
// it. The values increase while the worker lives.
struct WorkerTimes {
  int local_rank = 0;
  // Time with no collective in progress, without the waits for input data.
  Duration work = Duration::zero();
  // Time spent waiting for input data, as far as the worker reports it.
  Duration data = Duration::zero();
  // Time with a collective in progress: the transfer, and the wait for ranks
  // that join the collective later.
  Duration collectives = Duration::zero();
  // The wait and the transfer, as far as the coordinator could divide
  // `collectives` (StragglerWatch). Their sum is at most `collectives`.
  Duration wait = Duration::zero();
  Duration transfer = Duration::zero();

  double total_s() const {  // work, data and collectives, in seconds
    return ToSeconds(work) + ToSeconds(data) + ToSeconds(collectives);
  }
};

// The state of a node, as operators see it.
struct NodeStatus {
  NodeIdentity node;
  NodePhase phase = NodePhase::kIdle;
  int round = 0;
  // group rank in the current world; nullopt: a spare
  std::optional<int> group_rank;
  bool connected = true;
  bool draining = false;
  Duration silent_for = Duration::zero();  // time since the node's last report
  Health health = Health::kHealthy;
  std::string unhealthy;    // why the node is unhealthy; else empty
  HostJudgement judgement;  // how far the node's machine is trusted
  // Progress of the workers that have reported any in the current round.
  std::vector<WorkerProgress> progress;
  // Times of the workers that have measured any in the current round; only of
  // workers in `progress`.
  std::vector<WorkerTimes> times;
  NodeTime time;
};

// The part of a step in which a slow rank needs more time than the others.
enum class SlowPhase {
  kCompute,  // the rank's own work between the collectives
  kData,     // waiting for input data, as far as the worker reports it
  kNetwork,  // transfers between the slow rank's node and other nodes
};

// A rank for which the other ranks have to wait, as StragglerWatch found.
struct SlowRank {
  int rank = 0;
  std::string node_id;
  std::string host;
  int local_rank = 0;
  std::string gpu;  // the rank's GPU (NodeIdentity::gpus); empty: unknown
  SlowPhase phase = SlowPhase::kCompute;
  // How much slower the rank is: a value of the rank, divided by a value for
  // comparison.
  //   - kNetwork: the fraction of the time during which the network limits the
  //     transfers of the rank's node. Divided by the highest such fraction of
  //     the links between other nodes.
  //   - Other phases: the fraction of its time that the rank spends outside of
  //     collectives. Divided by the median of all ranks.
  double ratio = 0;
  // kNetwork: the fraction by which a step would become shorter at most (0 to
  // 1) if the network of the rank's node were as quick as the others. The real
  // gain is smaller if computation hides a part of the transfers. nullopt:
  // another phase (JobStatus::slow_ranks_gain), or unknown, because some ranks
  // of the round do not measure their times.
  std::optional<double> max_gain;
  // True: the rank was slow in nearly all of the recent time windows. False:
  // only in part of them.
  bool is_persistent = false;

  bool operator==(const SlowRank&) const = default;
};

// Maximum length of JobStatus::slow_ranks.
inline constexpr int kMaxSlowRanks = 64;

// The state of a job, as `launch status` and `launch watch` show it to
// operators.
struct JobStatus {
  std::string run_id;
  JobSpec spec;
  JobPhase phase = JobPhase::kGathering;
  std::string reason;  // why the job is in `phase`, and what it waits for
  int round = 0;
  int world_size = 0;
  int restarts_used = 0;
  std::string master_address;
  int master_port = 0;
  Duration age = Duration::zero();
  Duration phase_age = Duration::zero();
  std::optional<PreemptionNotice> preemption;
  // Why the job's newest state is not durable in the coordinator's journal, and
  // for how long. Empty and 0: the state is durable, or there is no journal.
  std::string not_durable;
  Duration not_durable_for = Duration::zero();
  JobTime time;
  // Two histograms, counted since this coordinator has known the job; not sent
  // to operators. rendezvous_times: how long nodes gathered before a round.
  // recovery_times: the time from the early end of a round until all nodes run
  // a later round.
  DurationHistogram rendezvous_times;
  DurationHistogram recovery_times;
  // The slow ranks of the running round, ordered by rank. If there are more
  // than kMaxSlowRanks, only the first ones.
  std::vector<SlowRank> slow_ranks;
  // The fraction by which a step would become shorter (0 to 1) if the slow
  // ranks were as quick as the slowest of the other ranks. Does not count slow
  // networks (SlowRank::max_gain).
  double slow_ranks_gain = 0;
  // HOST:PORT of the processes that can take over the job, in the order in
  // which nodes try them; at most kMaxStandbys.
  std::vector<std::string> standbys;
  std::vector<NodeStatus> nodes;   // the members by group rank, then the spares
  std::optional<Verdict> verdict;  // set once the job has finished
};

// One decision of the coordinator, for the event log and `launch watch`.
struct Decision {
  // kind of the decision: "join", "assign", "break", "lost", "finish", …
  std::string kind;
  int round = 0;
  std::string node_id;  // node that is concerned; empty: the whole job
  std::string reason;   // why the coordinator decided so; a sentence
  // For "failure" and "break": the failure that caused the decision. For a
  // later decision that replaces the cause of a "break": the new cause.
  // nullopt: the decision has no failure. Only for the event log.
  std::optional<Failure> failure = std::nullopt;
};

// A position in the sequence of a job's decisions. Each coordinator numbers its
// own decisions.
struct DecisionCursor {
  // The coordinator's first epoch; it identifies the coordinator's run. 0:
  // before any decision.
  uint64_t epoch = 0;
  uint64_t count = 0;  // number of the coordinator's decisions so far
};

// The decisions that a watcher has missed since a DecisionCursor.
struct MissedDecisions {
  std::vector<Decision> decisions;  // oldest first
  int dropped = 0;  // number of missed decisions that are too old to be kept
};

// The lower-case names of phases, health and outcomes, as shown in tables, JSON
// and traces. Pure.
const char* PhaseText(JobPhase phase);   // a job's: "gathering", "running", ...
const char* PhaseText(NodePhase phase);  // "idle", "running", ...
const char* HealthText(Health health);   // "healthy", "unchecked", "unhealthy"
const char* PhaseText(SlowPhase phase);  // "compute", "data", "network"
// Returns what SlowRank::ratio compares the slow rank with: "the median" or
// "the other links".
const char* ComparedText(SlowPhase phase);
const char* HostStateText(HostState state);  // "healthy", "quarantined", ...
const char* OutcomeText(Outcome outcome);    // "succeeded", "timed out", ...

// The progress of a whole job, computed from the progress that its workers
// report. Both functions are pure.

// One rank with its host and the newest progress that the rank has reported.
struct RankProgress {
  int rank = 0;
  std::string host;
  WorkerProgress said;
};
// The ranks of the current round that have reported progress, in the order of
// their rank.
std::vector<RankProgress> RanksOf(const JobStatus& job);

struct ProgressSummary {
  int reporting = 0;                  // number of ranks that have reported
  std::optional<int64_t> least_step;  // smallest step that a rank reported
  std::optional<int64_t> median_step;
  std::optional<int64_t> max_step;
  int slowest_rank = -1;       // lowest rank whose step is least_step; -1: none
  std::optional<double> loss;  // mean of the ranks' losses
  double tokens_per_s = 0;     // sum over the ranks that report a rate
  int most_silent_rank = -1;
  Duration longest_silence = Duration::zero();
};
ProgressSummary Summarize(const std::vector<RankProgress>& ranks);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_JOB_STATUS_H_
