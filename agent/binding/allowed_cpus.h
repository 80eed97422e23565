#ifndef MUSTER_AGENT_BINDING_ALLOWED_CPUS_H_
#define MUSTER_AGENT_BINDING_ALLOWED_CPUS_H_

#include <vector>

namespace muster::agent {

// The logical CPUs that this process may use, by its affinity and cgroup,
// ascending. Empty: unknown.
std::vector<int> AllowedCpus();

}  // namespace muster::agent

#endif  // MUSTER_AGENT_BINDING_ALLOWED_CPUS_H_
