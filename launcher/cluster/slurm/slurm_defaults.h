#ifndef MUSTER_LAUNCHER_CLUSTER_SLURM_SLURM_DEFAULTS_H_
#define MUSTER_LAUNCHER_CLUSTER_SLURM_SLURM_DEFAULTS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "launcher/options/command_line.h"
#include "launcher/options/defaults.h"

namespace muster::launcher {

// Whether this process runs in a Slurm job.
bool InSlurm(const std::map<std::string, std::string>& environment);

// Returns defaults that Slurm's variables give for flags, except for the flags
// in `given`. docs/SLURM.md lists the variable of each flag. In a step with one
// task on each node the defaults describe the whole step, such as the number of
// nodes. In the batch script of a job with one node the defaults describe that
// node only. Pure.
//
// InvalidArgument, one line that says what to write instead. Causes: the step
// has several tasks on a node; --nnodes is larger than the step; a variable is
// invalid; or this process is outside of a step, in salloc's shell or in the
// batch script of a job with several nodes.
absl::StatusOr<Defaults> SlurmDefaults(
    const FlagValues& given,
    const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CLUSTER_SLURM_SLURM_DEFAULTS_H_
