#ifndef MUSTER_AGENT_HEALTH_GPU_DEVICES_H_
#define MUSTER_AGENT_HEALTH_GPU_DEVICES_H_

#include <string>

namespace muster::agent {

// Returns the number of NVIDIA's device files (nvidia0, nvidia1, …) in
// `folder`, usually /dev. Does not load NVIDIA's library.
int CountGpuDevices(const std::string& folder);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_GPU_DEVICES_H_
