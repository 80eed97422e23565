#ifndef MUSTER_AGENT_GPUS_NVML_H_
#define MUSTER_AGENT_GPUS_NVML_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/gpus/gpu_list.h"

namespace muster::agent {

// The machine's GPUs and their MIG instances as NVIDIA's management library
// tells them, loaded for the duration of the call. None where there is no
// library or no driver: not an error. Internal, with the library's own words:
// it is there and fails, for instance because the driver was updated under it.
// In the library's order (by PCI bus), which is CUDA's for equal GPUs.
absl::StatusOr<std::vector<Gpu>> ReadGpus(
    const std::string& library = "libnvidia-ml.so.1");

struct VisibleGpuList {
  std::vector<std::string> names;          // in CUDA_VISIBLE_DEVICES' notation
  std::vector<std::string> pci_addresses;  // of each; empty: not known
};

// The GPUs that CUDA_VISIBLE_DEVICES (nullopt: not set) leaves visible here.
// Loads the library only where it can matter.
absl::StatusOr<VisibleGpuList> ReadVisibleGpus(
    const std::optional<std::string>& cuda_visible_devices,
    const std::string& library = "libnvidia-ml.so.1");

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GPUS_NVML_H_
