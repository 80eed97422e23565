#ifndef MUSTER_AGENT_HEALTH_EXAMINE_GPUS_H_
#define MUSTER_AGENT_HEALTH_EXAMINE_GPUS_H_

#include <vector>

#include "agent/health/finding.h"
#include "agent/health/node_facts.h"

namespace muster::agent {

// What is to be said of a node's GPUs, of what connects them, and of the
// versions of what drives them. Pure.
std::vector<Finding> ExamineVersions(const NodeFacts& facts);
std::vector<Finding> ExamineGpus(const GpuFacts& gpus,
                                 const GpuSurroundings& surroundings);
// Of too few GPUs for a job that needs `needed` (0: not known).
std::vector<Finding> ExamineGpuCount(int needed, const GpuFacts& gpus);
std::vector<Finding> ExamineLinks(const GpuFacts& gpus,
                                  const GpuSurroundings& surroundings);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_EXAMINE_GPUS_H_
