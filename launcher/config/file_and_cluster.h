#ifndef MUSTER_LAUNCHER_CONFIG_FILE_AND_CLUSTER_H_
#define MUSTER_LAUNCHER_CONFIG_FILE_AND_CLUSTER_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "launcher/options/command_line.h"
#include "launcher/options/defaults.h"

namespace muster::launcher {

// Merges the settings of a configuration file with those of the cluster in
// which this process runs. The file's settings take precedence, with two
// exceptions:
//
// - If the cluster or a host file makes this process one node of several, all
//   nodes read the same configuration file. If the file set the number of nodes
//   to 1, each node would train alone; if the file set a node rank, all nodes
//   would have that rank. So these two settings of the file have no effect, and
//   a remark says so. If the file has one of them, its rendezvous address has
//   no effect either, unless `given` has an address. But if the file itself
//   names the host file, its number of nodes and its address describe the job
//   on those hosts, and have effect. Settings in `given` (on the command line
//   and in PET_ variables) always have effect.
// - `slurm` in the file has no effect in a step of Slurm, because srun has
//   already started this process.
//
// InvalidArgument: the error of ClusterDefaults, for example in the batch
// script of a Slurm job with several nodes. --nnodes=1 on the command line
// prevents this error; the same number of nodes in the file does not. Pure.
absl::StatusOr<Defaults> FileAndCluster(
    Defaults file, const FlagValues& given,
    const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_FILE_AND_CLUSTER_H_
