#ifndef MUSTER_AGENT_GPUS_READ_GPU_FACTS_H_
#define MUSTER_AGENT_GPUS_READ_GPU_FACTS_H_

#include <string>

#include "agent/gpus/gpu_facts.h"

namespace muster::agent {

// Reads the health data of all GPUs from NVIDIA's management library. Takes
// tens of milliseconds; never returns if the driver hangs.
GpuFacts ReadGpuFacts(const std::string& library = "libnvidia-ml.so.1");

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GPUS_READ_GPU_FACTS_H_
