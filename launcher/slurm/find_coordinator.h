#ifndef MUSTER_LAUNCHER_SLURM_FIND_COORDINATOR_H_
#define MUSTER_LAUNCHER_SLURM_FIND_COORDINATOR_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster::launcher {

// A Slurm job. A task of an array and a component of a heterogeneous job have a
// name and, besides, a job number of their own.
struct SlurmJob {
  uint64_t number = 0;
  std::string name;  // for example "41", "5_3" (array), "7+0" (heterogeneous)
};

// Finds the job with the name or number `asked` in the output of `squeue -o
// %A|%i`. NotFound: the output does not contain the job. Pure.
absl::StatusOr<SlurmJob> FindJob(const std::string& squeue,
                                 const std::string& asked);

// Returns the endpoint of the coordinator of `job`, computed from the job's
// steps in `steps`, the output of `squeue --steps -o %i|%j|%N`. If several
// steps run, the first step named `launch` counts, otherwise the first step.
// `asking` is the number of the step in which this process runs; that step is
// ignored. Steps of other jobs are ignored.
//
// NotFound: there is no such step. Pure.
absl::StatusOr<rendezvous::Endpoint> EndpointOfSteps(
    const std::string& squeue, const SlurmJob& job,
    std::optional<uint64_t> asking);

// Runs squeue to find the job `job` (name or number) and its steps. Blocks for
// at most 20 s. Errors: one line that says what to do.
absl::StatusOr<rendezvous::Endpoint> FindCoordinator(
    const std::string& job, std::optional<uint64_t> asking);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SLURM_FIND_COORDINATOR_H_
