#ifndef MUSTER_LAUNCHER_CONFIG_FILE_AND_CLUSTER_H_
#define MUSTER_LAUNCHER_CONFIG_FILE_AND_CLUSTER_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "launcher/options/command_line.h"
#include "launcher/options/defaults.h"

namespace muster::launcher {

// Merges the settings of a configuration file with those of the cluster in
// which this process runs. The file's settings take precedence, with one
// exception.
//
// The exception: several processes with this command line may be the nodes of
// one job, because of the cluster or of a host file that is named elsewhere.
// All these nodes read the same configuration file. If the file says that there
// is one node, each node would train alone. If the file has a node rank, all
// nodes would claim the same rank. So these two settings of the file have no
// effect, and a remark says so. In this case the file's rendezvous address
// usually has no effect either (OfOneNode). On the command line and in PET_
// variables (`given`) these settings keep their effect.
//
// `slurm` in the file has no effect in a step of Slurm, because srun has
// already started this process.
//
// InvalidArgument: the error of ClusterDefaults. A number of nodes of 1 in the
// file does not prevent the error. Pure.
absl::StatusOr<Defaults> FileAndCluster(
    Defaults file, const FlagValues& given,
    const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_FILE_AND_CLUSTER_H_
