#ifndef MUSTER_AGENT_GPUS_GPU_LIST_H_
#define MUSTER_AGENT_GPUS_GPU_LIST_H_

#include <optional>
#include <string>
#include <vector>

namespace muster::agent {

// One of the machine's GPUs; its place in the list is its index.
struct Gpu {
  std::string uuid;  // "GPU-5fdf…"
  // Its MIG instances' ids ("MIG-7a3c…"); with any, they are what can be used.
  std::vector<std::string> mig_instances;
  std::string pci_address = "";  // "0000:3b:00.0"; empty: not known
};

// The devices that CUDA_VISIBLE_DEVICES leaves visible on a machine with
// `gpus`, each in that variable's notation: as it is written there; where it is
// not set (nullopt), indices, or MIG ids for a GPU that is divided.
//
// CUDA's own rules: an empty value hides all; what is none of the machine's
// devices (-1, a number too high, an unknown id, any other word) hides itself
// and all that follow; a device named twice hides all; of a number only its
// leading digits count; a list that begins with a GPU- or MIG- id holds ids of
// that kind, which may be shortened as long as they are unique. Pure.
std::vector<std::string> VisibleGpus(
    const std::optional<std::string>& cuda_visible_devices,
    const std::vector<Gpu>& gpus);

// Where each of `visible`, in that variable's notation, is on the PCI bus;
// empty where that is not known. Pure.
std::vector<std::string> PciAddresses(const std::vector<std::string>& visible,
                                      const std::vector<Gpu>& gpus);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GPUS_GPU_LIST_H_
