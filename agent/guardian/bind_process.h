#ifndef MUSTER_AGENT_GUARDIAN_BIND_PROCESS_H_
#define MUSTER_AGENT_GUARDIAN_BIND_PROCESS_H_

#include <vector>

namespace muster::agent {

// Binds this single-threaded process and its future children to the logical
// CPUs `cpus`. Returns 0, or errno: EINVAL if the process may use none of them
// (offline, or outside of its cgroup).
int BindToCpus(const std::vector<int>& cpus);

// Makes this process and its future children take memory from that NUMA node as
// long as it has some. The kernel may refuse (a container's seccomp profile
// does); memory then comes from the node of the CPU that first touches it,
// which is the same node as long as the CPU binding holds.
void PreferMemoryOf(int numa_node);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_BIND_PROCESS_H_
