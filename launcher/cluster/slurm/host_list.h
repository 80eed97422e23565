#ifndef MUSTER_LAUNCHER_CLUSTER_SLURM_HOST_LIST_H_
#define MUSTER_LAUNCHER_CLUSTER_SLURM_HOST_LIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::launcher {

// Expands a host list in Slurm's format, "n[01-03,7]x[1-2],login", to the names
// of all hosts in Slurm's order. The number in the last bracket changes
// fastest. Numbers are padded to the width of the range's first number.
// Duplicates are kept. Text may follow the last bracket. At most 65536 hosts,
// Slurm's own limit.
//
// InvalidArgument: one clause that says what is wrong; the caller adds the name
// of the variable. Pure.
absl::StatusOr<std::vector<std::string>> ExpandHostList(
    const std::string& text);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CLUSTER_SLURM_HOST_LIST_H_
