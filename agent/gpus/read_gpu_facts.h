#ifndef MUSTER_AGENT_GPUS_READ_GPU_FACTS_H_
#define MUSTER_AGENT_GPUS_READ_GPU_FACTS_H_

#include <string>

#include "agent/gpus/gpu_facts.h"

namespace muster::agent {

// Asks NVIDIA's library for everything that it tells of health, which takes
// tens of milliseconds; with a driver that hangs, for ever.
GpuFacts ReadGpuFacts(const std::string& library = "libnvidia-ml.so.1");

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GPUS_READ_GPU_FACTS_H_
