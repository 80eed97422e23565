#ifndef MUSTER_LAUNCHER_SLURM_FIND_COORDINATOR_H_
#define MUSTER_LAUNCHER_SLURM_FIND_COORDINATOR_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster::launcher {

// A job of Slurm's: an array's task and a heterogeneous job's component have a
// number of their own besides their name.
struct SlurmJob {
  uint64_t number = 0;
  std::string name;  // "41", "5_3", "7+0"
};

// The job that `asked` names by name or number, in what `squeue -o %A|%i`
// printed. NotFound: it is not there. Pure.
absl::StatusOr<SlurmJob> FindJob(const std::string& squeue,
                                 const std::string& asked);

// Where the `launch` of `job` meets, told from its steps as `squeue --steps -o
// %i|%j|%N` printed them, perhaps with those of other jobs: that of the lowest
// number that is called like `launch`, else of any name. `asking`: the step of
// this job that wants to know, which is none of these.
//
// NotFound: there is no such step. Pure.
absl::StatusOr<rendezvous::Endpoint> EndpointOfSteps(
    const std::string& squeue, const SlurmJob& job,
    std::optional<uint64_t> asking);

// Asks squeue for `job`, a name or number, and for its steps; blocks for 20 s
// at most. Errors: one line that says what to do.
absl::StatusOr<rendezvous::Endpoint> FindCoordinator(
    const std::string& job, std::optional<uint64_t> asking);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SLURM_FIND_COORDINATOR_H_
