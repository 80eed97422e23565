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
  // How long other nodes may wait for the verdict after the coordinator's
  // death.
  Duration verdict_awaited_for = Duration::zero();
};

struct RecordedJob {
  // The record with which the job continues; nullopt: a new job begins.
  std::optional<rendezvous::KeptJob> continued;
  // Run ids of the records of jobs that are over.
  std::vector<std::string> over;
};

// Finds the job in the records of the folder `state_dir` (--state-dir).
//
// The record of a job that was about to end, or had ended, when its `launch`
// was killed counts only while other nodes may wait for the verdict. Later the
// same command begins a new job.
//
// `now`: time since 1970. Pure. FailedPrecondition: the folder holds another
// job, or the hosted job with other settings; one sentence.
absl::StatusOr<RecordedJob> FindRecordedJob(
    std::vector<rendezvous::KeptJob> records, const HostedJob& hosted,
    const std::string& state_dir, Duration now);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_RECORDED_JOB_H_
