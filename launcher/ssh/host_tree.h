#ifndef MUSTER_LAUNCHER_SSH_HOST_TREE_H_
#define MUSTER_LAUNCHER_SSH_HOST_TREE_H_

#include <cstddef>
#include <vector>

#include "launcher/ssh/messages.h"

namespace muster::launcher {

// Divides `hosts` into at most `fan_out` (at least 1) groups of neighbours
// whose sizes differ by at most one. This machine connects to the first host of
// each group, which divides the rest of the group in the same way. Pure.
std::vector<std::vector<RemoteHost>> PartHosts(std::vector<RemoteHost> hosts,
                                               size_t fan_out);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_HOST_TREE_H_
