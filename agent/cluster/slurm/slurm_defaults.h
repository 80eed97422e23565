#ifndef MUSTER_AGENT_CLUSTER_SLURM_SLURM_DEFAULTS_H_
#define MUSTER_AGENT_CLUSTER_SLURM_SLURM_DEFAULTS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "agent/options/defaults.h"
#include "agent/options/flag_values.h"

namespace muster {

// Whether this process is in one of Slurm's jobs.
bool InSlurm(const std::map<std::string, std::string>& environment);

// What Slurm's environment says of a run, where `given` does not. Pure.
absl::StatusOr<Defaults> SlurmDefaults(
    const FlagValues& given,
    const std::map<std::string, std::string>& environment);

}  // namespace muster

#endif  // MUSTER_AGENT_CLUSTER_SLURM_SLURM_DEFAULTS_H_
