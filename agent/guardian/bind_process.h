#ifndef MUSTER_AGENT_GUARDIAN_BIND_PROCESS_H_
#define MUSTER_AGENT_GUARDIAN_BIND_PROCESS_H_

#include <vector>

namespace muster::agent {

// Binds this process, of one thread, and what it becomes and starts to the
// logical CPUs `cpus`. Returns 0, or errno: EINVAL where it may use none of
// them (offline, or outside of its cgroup).
int BindToCpus(const std::vector<int>& cpus);

// From now on this process and what it becomes and starts take memory from that
// NUMA node as long as it has some, wherever they run. Where the kernel refuses
// (a container's seccomp profile does) nothing is lost: memory is then taken
// from the node of the CPU that first touches it, which is the same as long as
// nobody loosens the binding.
void PreferMemoryOf(int numa_node);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_BIND_PROCESS_H_
