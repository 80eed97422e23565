#ifndef MUSTER_LAUNCHER_CONFIG_CONFIG_DEFAULTS_H_
#define MUSTER_LAUNCHER_CONFIG_CONFIG_DEFAULTS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/options/command_line.h"
#include "launcher/options/defaults.h"
#include "launcher/options/flag.h"

namespace muster::launcher {

// The values that `launch` takes from outside its command line: from the
// --config file and from the cluster (FileAndCluster).
DefaultsSource LaunchDefaults(
    const std::vector<Flag>& flags,
    const std::map<std::string, std::string>& environment);

// Merges the settings of a configuration file with those of the cluster in
// which this process runs. The file's settings take precedence over those of
// the cluster. As exceptions, these settings of the file have no effect:
//
// - `slurm`, in a step of Slurm: srun has already started this process.
// - The node rank, and a number of nodes of 1, if the cluster or a host file
//   makes this process one of several nodes. All nodes read the same file: with
//   these settings all nodes would have the same rank, or each node would train
//   alone. A remark says that these settings have no effect.
// - The rendezvous address, if a setting of the previous item is in the file,
//   and `given` has no address.
//
// If the file itself names the host file, its number of nodes and its address
// describe the job on those hosts, and have effect. Settings in `given` (on the
// command line and in PET_ variables) always have effect.
//
// InvalidArgument: the error of ClusterDefaults, for example in the batch
// script of a Slurm job with several nodes. --nnodes=1 on the command line
// prevents this error; the same number of nodes in the file does not. Pure.
absl::StatusOr<Defaults> FileAndCluster(
    Defaults file, const FlagValues& given,
    const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_CONFIG_DEFAULTS_H_
