#ifndef MUSTER_AGENT_HEALTH_EXAMINE_ENVIRONMENT_H_
#define MUSTER_AGENT_HEALTH_EXAMINE_ENVIRONMENT_H_

#include <optional>
#include <string>
#include <vector>

#include "agent/health/finding.h"
#include "agent/health/node_facts.h"

namespace muster::agent {

// What is to be said of the variables that steer CUDA, NCCL and Gloo, given
// what is on this node. Pure.
std::vector<Finding> ExamineEnvironment(const NodeFacts& facts);

// CUDA_VISIBLE_DEVICES (nullopt: not set) against the GPUs that there are.
std::vector<Finding> ExamineVisibleGpus(
    const std::optional<std::string>& visible, const GpuFacts& gpus);

// How many devices CUDA_VISIBLE_DEVICES names; 0: it is not set or hides all.
int NamedGpus(const std::optional<std::string>& visible);

// `gpus` less those that CUDA_VISIBLE_DEVICES hides; all where it names none
// of them, or MIG instances.
GpuFacts OnlyVisible(const std::optional<std::string>& visible, GpuFacts gpus);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_EXAMINE_ENVIRONMENT_H_
