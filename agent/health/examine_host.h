#ifndef MUSTER_AGENT_HEALTH_EXAMINE_HOST_H_
#define MUSTER_AGENT_HEALTH_EXAMINE_HOST_H_

#include <optional>
#include <vector>

#include "agent/health/finding.h"
#include "agent/health/node_facts.h"

namespace muster::agent {

// The functions below return findings about a node's network, coordinator,
// cores, memory, limits and disks. All are pure.
std::vector<Finding> ExamineNetwork(const NetworkFacts& network);
std::vector<Finding> ExamineCoordinator(const CoordinatorFacts& coordinator,
                                        const std::string& own_version);
std::vector<Finding> ExamineMachine(const HostFacts& host,
                                    const NetworkFacts& network);
std::vector<Finding> ExamineDisks(const std::vector<FolderFacts>& folders);

// The two parts of ExamineMachine that a built-in health check calls alone: the
// check "shm" calls ExamineSharedMemory, and "memory" calls ExamineMemory.
std::vector<Finding> ExamineSharedMemory(const std::optional<FolderFacts>& shm);
std::vector<Finding> ExamineMemory(const HostFacts& host);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_EXAMINE_HOST_H_
