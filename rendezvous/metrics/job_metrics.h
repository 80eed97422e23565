#ifndef MUSTER_RENDEZVOUS_METRICS_JOB_METRICS_H_
#define MUSTER_RENDEZVOUS_METRICS_JOB_METRICS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "rendezvous/metrics/exposition.h"
#include "rendezvous/protocol/job_status.h"
#include "rendezvous/protocol/time_ledger.h"

namespace muster::rendezvous {

// Maximum number of jobs on the metrics page; it limits the size of the page
// and the number of series. Unfinished jobs come first, then finished ones,
// each in the order of run ids.
inline constexpr size_t kMaxShownJobs = 200;

// Adds the metrics of a coordinator's jobs, named muster_job_*, each with the
// label `job` (the run id). A metric of nodes has one sample for each state,
// not one for each node. O(jobs + nodes). Pure.
//
// After a takeover or a restart of the coordinator, the counters continue from
// what the new coordinator knows. Prometheus treats a lower value as a reset.
void AddJobMetrics(const std::vector<JobStatus>& jobs, Exposition& page);

// Numbers of events that a coordinator has lost since its start.
struct CoordinatorLosses {
  // decisions that the event log omits because there were too many
  int64_t omitted_events = 0;
  // bytes of the event log that could not be written
  int64_t event_log_bytes = 0;
  // decisions that `launch watch` and `launch top` have missed
  int64_t missed_decisions = 0;
};

// Adds the metrics of these losses, named muster_coordinator_*.
void AddCoordinatorLosses(const CoordinatorLosses& losses, Exposition& page);

// Adds a counter with one sample for each activity of a node. The label
// `activity` names the activity; `seconds` returns the sample's value.
// `labels`: further labels.
void AddActivitySamples(const std::vector<Label>& labels,
                        const std::array<double, kActivities>& seconds,
                        Exposition& page);

// Adds muster_build_info, whose labels contain the version of the program.
void AddBuildInfo(Exposition& page);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_METRICS_JOB_METRICS_H_
