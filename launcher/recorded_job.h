#ifndef MUSTER_LAUNCHER_RECORDED_JOB_H_
#define MUSTER_LAUNCHER_RECORDED_JOB_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/wire/record_wire.h"

namespace muster::launcher {

// The job that a `launch` hosts.
struct HostedJob {
  std::string run_id;
  rendezvous::JobSpec spec;
  // The longest time for which other nodes wait for the verdict after the
  // coordinator has died.
  Duration verdict_awaited_for = Duration::zero();
};

struct RecordedJob {
  // The record with which the job continues; nullopt: a new job begins.
  std::optional<rendezvous::KeptJob> continued;
  // Run ids of the jobs that have ended and whose records are still in the
  // state folder.
  std::vector<std::string> over;
};

// Finds the record of the job `hosted` among `records`, which come from the
// journal in the folder `state_dir` (--state-dir).
//
// If the record says that the job is ending or has ended, the record is used
// only while other nodes may still wait for the verdict. After that time a
// `launch` with the same folder begins a new job, except that a job that was
// preempted or lacked nodes continues with its next run (ForNextRun).
//
// `now`: time since 1970. Pure. FailedPrecondition, one sentence: the folder
// holds the record of another job, or of this job with other settings.
absl::StatusOr<RecordedJob> FindRecordedJob(
    std::vector<rendezvous::KeptJob> records, const HostedJob& hosted,
    const std::string& state_dir, Duration now);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_RECORDED_JOB_H_
