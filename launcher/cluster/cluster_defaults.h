#ifndef MUSTER_LAUNCHER_CLUSTER_CLUSTER_DEFAULTS_H_
#define MUSTER_LAUNCHER_CLUSTER_CLUSTER_DEFAULTS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "launcher/options/command_line.h"
#include "launcher/options/defaults.h"

namespace muster::launcher {

// Reads the defaults of a run's flags from the environment of the cluster
// (Slurm or Kubernetes) in which this process runs. --cluster in `given` can
// choose one cluster or none. Returns no defaults with --standalone, which runs
// one node. InvalidArgument: this process does not run in the chosen cluster,
// or the cluster's variables are invalid. Pure.
absl::StatusOr<Defaults> ClusterDefaults(
    const FlagValues& given,
    const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CLUSTER_CLUSTER_DEFAULTS_H_
