#ifndef MUSTER_AGENT_HEALTH_EXAMINE_GPUS_H_
#define MUSTER_AGENT_HEALTH_EXAMINE_GPUS_H_

#include <vector>

#include "agent/health/finding.h"
#include "agent/health/node_facts.h"

namespace muster::agent {

// The functions below return findings about a node's GPUs, their links, and the
// versions of driver and libraries. All are pure.
std::vector<Finding> ExamineVersions(const NodeFacts& facts);
std::vector<Finding> ExamineGpus(const GpuFacts& gpus,
                                 const GpuSurroundings& surroundings);
// Returns a finding if the job needs more GPUs (`needed`; 0: unknown) than the
// node has.
std::vector<Finding> ExamineGpuCount(int needed, const GpuFacts& gpus);
std::vector<Finding> ExamineLinks(const GpuFacts& gpus,
                                  const GpuSurroundings& surroundings);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_EXAMINE_GPUS_H_
