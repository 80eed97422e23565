#ifndef MUSTER_LAUNCHER_CLUSTER_SLURM_SLURM_TOPOLOGY_H_
#define MUSTER_LAUNCHER_CLUSTER_SLURM_SLURM_TOPOLOGY_H_

#include <string>

namespace muster::launcher {

// Slurm's word of a node's place in the network as --topology's labels, the
// outermost first: SLURM_TOPOLOGY_ADDR "top.leaf1.n3" with
// SLURM_TOPOLOGY_ADDR_PATTERN "switch.switch.node" is
// "switch1=top,switch2=leaf1". Empty where there is nothing but the node, or
// the two do not fit together. Pure.
std::string TopologyLabels(const std::string& address,
                           const std::string& pattern);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CLUSTER_SLURM_SLURM_TOPOLOGY_H_
