#ifndef MUSTER_LAUNCHER_CLUSTER_SLURM_HOST_LIST_H_
#define MUSTER_LAUNCHER_CLUSTER_SLURM_HOST_LIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::launcher {

// Reads a host list as Slurm writes it, "n[01-03,7]x[1-2],login", and names
// every host in Slurm's order: the last bracket counts fastest, a number is as
// wide as its range's first one, duplicates stay. A suffix behind the last
// bracket is allowed. At most 65536 hosts, as in Slurm.
//
// InvalidArgument: one clause that says what is wrong, without the list's
// origin. Pure.
absl::StatusOr<std::vector<std::string>> ExpandHostList(
    const std::string& text);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CLUSTER_SLURM_HOST_LIST_H_
