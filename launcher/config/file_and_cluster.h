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
// The exception: the cluster, or a host file named elsewhere, may make several
// processes of one command line the nodes of one job. All these nodes read the
// same file, so settings of a single node cannot be right for all of them. With
// a number of nodes of 1, each node would train alone, under the same names.
// With a node rank, all nodes would claim the same rank. These settings of the
// file then have no effect, and a remark says so. If the file has one of them,
// its rendezvous address usually has no effect either (OfOneNode). On the
// command line and in PET_ variables (`given`) they keep their effect. `slurm`
// in the file has no effect in a step of Slurm, because the step has been
// started already.
//
// InvalidArgument: an error of ClusterDefaults, even if the file's number of
// nodes, 1, would avoid the error. Pure.
absl::StatusOr<Defaults> FileAndCluster(
    Defaults file, const FlagValues& given,
    const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_FILE_AND_CLUSTER_H_
