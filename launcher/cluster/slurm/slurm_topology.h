#ifndef MUSTER_LAUNCHER_CLUSTER_SLURM_SLURM_TOPOLOGY_H_
#define MUSTER_LAUNCHER_CLUSTER_SLURM_SLURM_TOPOLOGY_H_

#include <string>

namespace muster::launcher {

// Translates Slurm's description of a node's place in the network to labels for
// --topology, the outermost first. SLURM_TOPOLOGY_ADDR "top.leaf1.n3" with
// SLURM_TOPOLOGY_ADDR_PATTERN "switch.switch.node" gives
// "switch1=top,switch2=leaf1". Empty if the pattern has only a node, or does
// not fit the address. Pure.
std::string TopologyLabels(const std::string& address,
                           const std::string& pattern);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CLUSTER_SLURM_SLURM_TOPOLOGY_H_
