#ifndef MUSTER_RENDEZVOUS_JOB_JOB_RECORD_H_
#define MUSTER_RENDEZVOUS_JOB_JOB_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"
#include "rendezvous/job/job_state.h"
#include "rendezvous/protocol/directive.h"

namespace muster::rendezvous {

// The state of a job that a new coordinator needs to continue the job. The rest
// of JobState comes from the nodes' reports, each of which is complete. Times
// are stored as durations, because another process has another clock.
struct JobRecord {
  // A node of the job, and its place in the newest round.
  struct Member {
    NodeIdentity identity;
    std::string place_key;
    std::string peer;
    // phase in the node's newest report
    NodePhase phase = NodePhase::kIdle;
    int round = 0;
    uint64_t newest_signal = 0;
    int failures_taken = 0;
    bool going = false;
    std::string going_why;
    Part part = Part::kNone;
    int group_rank = -1;
  };

  std::string run_id;
  JobSpec spec;
  std::string run_tag;
  Duration age = Duration::zero();  // time since the job's first report
  JobPhase phase = JobPhase::kGathering;
  std::string why;
  int round = 0;
  int claimed_round = 0;
  int restarts_used = 0;
  // Whether the nodes must be checked by pairs before the next round
  // (PairChecks::is_due).
  bool check_is_due = false;
  // Number of successive rounds that ended by a worker's failure
  // (RestartBackoff::failures).
  int failures_in_row = 0;
  // While the job gathers nodes: the remaining time of the back-off, in which
  // no world may form. Otherwise zero.
  Duration backoff_left = Duration::zero();
  std::vector<SignalNotice> signals;
  uint64_t newest_signal = 0;
  std::string speaker;
  std::optional<PreemptionNotice> preemption;
  std::optional<Verdict> verdict;

  // The world of the newest round, except its points in time (such as `began`),
  // most of its counts of members (such as `unstopped`) and the `peer` of its
  // members. These are not recorded.
  World world;
  Duration ran = Duration::zero();  // time since the round began
  std::vector<Member> members;      // the job's nodes, in order of joining
  std::vector<PastNode> past;

  // How the newest broken round is stopped. A new coordinator sets a new
  // Stopping::deadline.
  Stopping stopping;
  FailureLog failures;
  std::string blamed;  // why the newest broken round broke (Blame::why)
  // How the job has spent its time. The time of the current nodes is left out
  // (JobLedger::Without), because they report it again to the next coordinator.
  JobTime time;
};

// Returns the record of `state` at state.now. O(n).
JobRecord RecordOf(const JobState& state);

// Returns the state for a new coordinator that continues from `record`.
// `elapsed`: estimated time since the record was written; two clocks were
// compared, so it may be wrong. All nodes are disconnected, and are lost unless
// they report within their lease. A provisional cause of a break becomes final.
// `record` must have passed CheckRecord.
JobState StateOf(const JobRecord& record, uint64_t epoch, Instant now,
                 Duration elapsed);

// Adds to `record` what a directive of another coordinator says about the job:
// a later round, the restarts used, and the job's age. `elapsed`: time since
// the record was written. Returns whether the round or the number of restarts
// has grown; otherwise `record` is unchanged. If the directive has a later
// round, the record has no nodes afterwards: it suffices for Job::Recall, but
// not for StateOf.
bool LearnFrom(const Directive& directive, Duration elapsed, JobRecord& record);

// Returns the record with which the job's next run begins if the job of
// `record` has been preempted, is about to be, or has timed out. Contains the
// values that concern the job as a whole: the number of its rounds and of the
// restarts used, its age, its time totals and its log folder. nullopt: the job
// does not run again (RunsAgain).
std::optional<JobRecord> ForNextRun(const JobRecord& record);

// Whether the job of `record` has ended, or will begin no further round.
bool IsEnding(const JobRecord& record);

// Returns OK, or the reason why RecordOf cannot have made `record`. With this
// check a damaged file cannot bring a coordinator into an impossible state.
absl::Status CheckRecord(const JobRecord& record);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_JOB_RECORD_H_
