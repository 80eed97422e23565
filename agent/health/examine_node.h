#ifndef MUSTER_AGENT_HEALTH_EXAMINE_NODE_H_
#define MUSTER_AGENT_HEALTH_EXAMINE_NODE_H_

#include <optional>
#include <string>
#include <vector>

#include "agent/health/finding.h"
#include "agent/health/node_facts.h"

namespace muster::agent {

// The functions below derive findings from the facts about a node. All are
// pure.

// All findings about a node, ordered by group.
std::vector<Finding> ExamineNode(const NodeFacts& facts);

// Findings about a node's GPUs, their links, and the versions of driver and
// libraries.
std::vector<Finding> ExamineVersions(const NodeFacts& facts);
std::vector<Finding> ExamineGpus(const GpuFacts& gpus,
                                 const GpuSurroundings& surroundings);
// Returns a finding if the job needs more GPUs (`needed`; 0: unknown) than the
// node has.
std::vector<Finding> ExamineGpuCount(int needed, const GpuFacts& gpus);
std::vector<Finding> ExamineLinks(const GpuFacts& gpus,
                                  const GpuSurroundings& surroundings);

// Findings about the environment variables of CUDA, NCCL and Gloo.
std::vector<Finding> ExamineEnvironment(const NodeFacts& facts);

// Findings about CUDA_VISIBLE_DEVICES (`visible`; nullopt: not set), compared
// with the existing GPUs.
std::vector<Finding> ExamineVisibleGpus(
    const std::optional<std::string>& visible, const GpuFacts& gpus);

// The number of devices that CUDA_VISIBLE_DEVICES names; 0: it is not set, or
// hides all.
int NamedGpus(const std::optional<std::string>& visible);

// The facts in `gpus` without the GPUs that CUDA_VISIBLE_DEVICES (`visible`)
// hides. If `visible` names no GPU, or names MIG instances, `gpus` is returned
// unchanged.
GpuFacts OnlyVisible(const std::optional<std::string>& visible, GpuFacts gpus);

// Findings about a node's network, coordinator, cores, memory, limits and
// disks.
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

#endif  // MUSTER_AGENT_HEALTH_EXAMINE_NODE_H_
