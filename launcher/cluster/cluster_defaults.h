#ifndef MUSTER_LAUNCHER_CLUSTER_CLUSTER_DEFAULTS_H_
#define MUSTER_LAUNCHER_CLUSTER_CLUSTER_DEFAULTS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "launcher/options/defaults.h"
#include "launcher/options/flag_values.h"

namespace muster::launcher {

// What the cluster that this process runs in says of a run: Slurm's or
// Kubernetes' environment, as --cluster of `given` allows. Nothing with
// --standalone, which is for one node. InvalidArgument: the cluster asked for
// is not there, or its variables make no sense. Pure.
absl::StatusOr<Defaults> ClusterDefaults(
    const FlagValues& given,
    const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CLUSTER_CLUSTER_DEFAULTS_H_
