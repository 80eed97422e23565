#ifndef MUSTER_AGENT_BINDING_ALLOWED_CPUS_H_
#define MUSTER_AGENT_BINDING_ALLOWED_CPUS_H_

#include <vector>

namespace muster::agent {

// The logical CPUs that this process may run on, by its affinity and its
// cgroup, ascending. Empty: the kernel does not tell.
std::vector<int> AllowedCpus();

}  // namespace muster::agent

#endif  // MUSTER_AGENT_BINDING_ALLOWED_CPUS_H_
