#ifndef MUSTER_AGENT_GPUS_READ_GPU_VALUES_H_
#define MUSTER_AGENT_GPUS_READ_GPU_VALUES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/gpus/gpu_values.h"

namespace muster::agent {

// Reads the values of all GPUs from NVIDIA's management library. Takes tens of
// milliseconds; never returns if the driver hangs. NotFound: there is no
// library or no driver. Internal, with the library's message: the library
// failed.
absl::StatusOr<std::vector<GpuValues>> ReadGpuValues(
    const std::string& library);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GPUS_READ_GPU_VALUES_H_
