#ifndef MUSTER_AGENT_BINDING_CPU_LIST_H_
#define MUSTER_AGENT_BINDING_CPU_LIST_H_

#include <string>
#include <vector>

namespace muster::agent {

// Formats ascending numbers like the kernel's Cpus_allowed_list: "0-3,8". Pure.
std::string CpuList(const std::vector<int>& numbers);

// The logical CPUs that this process may use, by its affinity and cgroup,
// ascending. Empty: unknown.
std::vector<int> AllowedCpus();

}  // namespace muster::agent

#endif  // MUSTER_AGENT_BINDING_CPU_LIST_H_
