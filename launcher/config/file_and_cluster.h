#ifndef MUSTER_LAUNCHER_CONFIG_FILE_AND_CLUSTER_H_
#define MUSTER_LAUNCHER_CONFIG_FILE_AND_CLUSTER_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "launcher/options/command_line.h"
#include "launcher/options/defaults.h"

namespace muster::launcher {

// What a configuration file and the cluster around this process say together:
// the file's word, and the cluster's where the file says nothing.
//
// But where the cluster, or a host file beside the configuration file, makes
// several processes of one command line nodes of one job, what one file says of
// one node does not hold for them all: a number of nodes of 1 (each would train
// alone, under the same names), a node rank (all would be the same one), and
// with the rank the address where its writer's nodes met. These have no effect
// then, which a remark tells; on the command line and in PET_ variables,
// `given`, they have. In a step of Slurm's, `slurm` of the file has been done.
//
// InvalidArgument: as ClusterDefaults'; also where only the file's 1 would have
// kept the cluster from refusing. Pure.
absl::StatusOr<Defaults> FileAndCluster(
    Defaults file, const FlagValues& given,
    const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_FILE_AND_CLUSTER_H_
