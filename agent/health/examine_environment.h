#ifndef MUSTER_AGENT_HEALTH_EXAMINE_ENVIRONMENT_H_
#define MUSTER_AGENT_HEALTH_EXAMINE_ENVIRONMENT_H_

#include <optional>
#include <string>
#include <vector>

#include "agent/health/finding.h"
#include "agent/health/node_facts.h"

namespace muster::agent {

// Findings about the environment variables of CUDA, NCCL and Gloo. Pure.
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

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_EXAMINE_ENVIRONMENT_H_
