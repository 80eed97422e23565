#ifndef MUSTER_AGENT_GPUS_GPU_LIST_H_
#define MUSTER_AGENT_GPUS_GPU_LIST_H_

#include <optional>
#include <string>
#include <vector>

namespace muster::agent {

// One of the machine's GPUs. The GPU's index is its position in the list.
struct Gpu {
  std::string uuid;  // "GPU-5fdf…"
  // The ids of the GPU's MIG instances ("MIG-7a3c…"). A GPU with MIG instances
  // can be used only through them.
  std::vector<std::string> mig_instances;
  std::string pci_address = "";  // such as "0000:3b:00.0"; empty: unknown
  // For each MIG instance, the id of its GPU instance, as nvidia-smi and DCGM
  // show it; -1: unknown.
  std::vector<int> gpu_instances = {};
};

// The devices that CUDA_VISIBLE_DEVICES leaves visible on a machine with
// `gpus`, in that variable's notation. If the variable is not set (nullopt), a
// GPU is named by its index, and a MIG instance by its id. Pure.
//
// CUDA's rules apply:
// - An empty value hides all devices.
// - An unknown device (-1, an index or id that does not exist, any other word)
//   hides itself and all devices after it.
// - A device named twice hides all devices.
// - Only the leading digits of a number count.
// - If the list begins with a GPU- or MIG- id, all its words are ids of that
//   kind. Such ids may be shortened to a unique prefix.
std::vector<std::string> VisibleGpus(
    const std::optional<std::string>& cuda_visible_devices,
    const std::vector<Gpu>& gpus);

// The PCI address of each device in `visible`, which is in the notation of
// CUDA_VISIBLE_DEVICES; empty if unknown. Pure.
std::vector<std::string> PciAddresses(const std::vector<std::string>& visible,
                                      const std::vector<Gpu>& gpus);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GPUS_GPU_LIST_H_
