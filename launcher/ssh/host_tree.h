#ifndef MUSTER_LAUNCHER_SSH_HOST_TREE_H_
#define MUSTER_LAUNCHER_SSH_HOST_TREE_H_

#include <cstddef>
#include <vector>

#include "launcher/ssh/messages.h"

namespace muster::launcher {

// Parts `hosts` into at most `fan_out` (at least 1) groups of neighbours whose
// sizes differ by one at most. The first host of a group is reached from here,
// and reaches the rest of its group in the same way. Pure.
std::vector<std::vector<RemoteHost>> PartHosts(std::vector<RemoteHost> hosts,
                                               size_t fan_out);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_HOST_TREE_H_
