#ifndef MUSTER_AGENT_GPUS_NVML_H_
#define MUSTER_AGENT_GPUS_NVML_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/gpus/gpu_list.h"

namespace muster::agent {

// Reads the machine's GPUs and their MIG instances from NVIDIA's management
// library, which is loaded for the duration of the call. Empty if there is no
// library or no driver. Internal, with the library's own message: the library
// failed, for instance because the driver was updated while loaded. The order
// is the library's (by PCI bus), which equals CUDA's for GPUs of one model.
absl::StatusOr<std::vector<Gpu>> ReadGpus(
    const std::string& library = "libnvidia-ml.so.1");

struct VisibleGpuList {
  std::vector<std::string> names;  // in the notation of CUDA_VISIBLE_DEVICES
  std::vector<std::string> pci_addresses;  // of each device; empty: unknown
};

// The GPUs that CUDA_VISIBLE_DEVICES (nullopt: not set) leaves visible on this
// node. Loads the library only if it can have an effect.
absl::StatusOr<VisibleGpuList> ReadVisibleGpus(
    const std::optional<std::string>& cuda_visible_devices,
    const std::string& library = "libnvidia-ml.so.1");

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GPUS_NVML_H_
