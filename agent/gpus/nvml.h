#ifndef MUSTER_AGENT_GPUS_NVML_H_
#define MUSTER_AGENT_GPUS_NVML_H_

#include <dlfcn.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/gpus/gpu_list.h"

namespace muster::agent {

// NVIDIA's management library, loaded at run time. Names and numbers are those
// of NVIDIA's nvml.h, whose binary interface is stable.
class NvmlLibrary {
 public:
  using Device = struct NvmlDevice*;
  using Result = int;
  static constexpr Result kSuccess = 0;
  static constexpr Result kNotSupported = 3;
  static constexpr Result kInsufficientSize = 7;
  static constexpr Result kDriverNotLoaded = 9;
  static constexpr Result kTimeout = 10;
  // NVML_ERROR_LIBRARY_NOT_FOUND of nvml.h: a library of the driver was not
  // found
  static constexpr Result kNoDriverFiles = 12;
  static constexpr Result kVersionMismatch = 18;
  // The result of Call if the library of an old driver has no such function.
  static constexpr Result kMissing = -1;

  static constexpr unsigned kTextBytes = 96;
  // The maximum numbers of GPUs, and of MIG instances per GPU, that are read,
  // even if NVML reports larger numbers.
  static constexpr unsigned kMaxGpus = 1024;
  static constexpr unsigned kMaxInstances = 64;

  explicit NvmlLibrary(const std::string& name);
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  bool loaded() const { return handle_ != nullptr; }

  // Calls the library's function `name`. kMissing: the library has no such
  // function.
  template <typename... Arguments>
  Result Call(const char* name, Arguments... arguments) const {
    using Function = Result (*)(Arguments...);
    const auto function = reinterpret_cast<Function>(dlsym(handle_, name));
    return function == nullptr ? kMissing : function(arguments...);
  }

  // NVML's own text for a result code.
  std::string Explain(Result result) const;

  // The UUID of a device; "" if NVML cannot give it. `*result` gets the result
  // code of the NVML call.
  std::string IdOf(Device device, Result* result) const;

  // A device's PCI address as in /sys, such as "0000:3b:00.0"; empty: unknown.
  std::string PciAddressOf(Device device) const;

 private:
  void* const handle_;
};

// Reads the machine's GPUs and their MIG instances with NVIDIA's management
// library. The library is loaded for the duration of the call. Empty if there
// is no library or no driver. Internal, with the library's own message: the
// library failed, for instance because the driver's files were updated while
// the old driver was loaded. The GPUs are in the library's order (by PCI bus),
// which equals CUDA's order for GPUs of one model.
absl::StatusOr<std::vector<Gpu>> ReadGpus(
    const std::string& library = "libnvidia-ml.so.1");

struct VisibleGpuList {
  // devices in the notation of CUDA_VISIBLE_DEVICES
  std::vector<std::string> names;
  // PCI address of each device; empty: unknown
  std::vector<std::string> pci_addresses;
};

// The GPUs that CUDA_VISIBLE_DEVICES (nullopt: not set) leaves visible on this
// node. NVML is loaded only if some GPU may be visible.
absl::StatusOr<VisibleGpuList> ReadVisibleGpus(
    const std::optional<std::string>& cuda_visible_devices,
    const std::string& library = "libnvidia-ml.so.1");

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GPUS_NVML_H_
