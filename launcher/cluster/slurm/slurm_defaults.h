#ifndef MUSTER_LAUNCHER_CLUSTER_SLURM_SLURM_DEFAULTS_H_
#define MUSTER_LAUNCHER_CLUSTER_SLURM_SLURM_DEFAULTS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "launcher/options/defaults.h"
#include "launcher/options/flag_values.h"

namespace muster::launcher {

// Whether this process is in one of Slurm's jobs.
bool InSlurm(const std::map<std::string, std::string>& environment);

// What Slurm's environment says of a run, where `given` does not: in a step
// with a task for each node everything, from the nodes to the switches; in the
// batch script of a job of one node what concerns that node. docs/SLURM.md
// tells which variable speaks for which flag. Pure.
//
// InvalidArgument, one line with what to write instead: a step with several
// tasks on a node, a place that is no node of the job or one of several, more
// nodes asked for than the step has, variables that make no sense.
absl::StatusOr<Defaults> SlurmDefaults(
    const FlagValues& given,
    const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CLUSTER_SLURM_SLURM_DEFAULTS_H_
