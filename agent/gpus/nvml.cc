#include "agent/gpus/nvml.h"

#include <algorithm>

#include "absl/status/status.h"

namespace muster::agent {
namespace {

// A PCI address with the memory layout of nvmlPciInfo_t in nvml.h.
struct PciInfo {
  char short_address[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char address[32];
};

}  // namespace

NvmlLibrary::NvmlLibrary(const std::string& name)
    : handle_(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {}

NvmlLibrary::~NvmlLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

std::string NvmlLibrary::Explain(Result result) const {
  if (result == kMissing) return "the driver is too old";
  using Function = const char* (*)(Result);
  const auto function =
      reinterpret_cast<Function>(dlsym(handle_, "nvmlErrorString"));
  const char* text = function == nullptr ? nullptr : function(result);
  return text == nullptr ? "error " + std::to_string(result) : text;
}

std::string NvmlLibrary::IdOf(Device device, Result* result) const {
  char id[kTextBytes] = {};
  *result = Call("nvmlDeviceGetUUID", device, +id, kTextBytes);
  id[kTextBytes - 1] = '\0';
  return id;
}

std::string NvmlLibrary::PciAddressOf(Device device) const {
  PciInfo info = {};
  if (Call("nvmlDeviceGetPciInfo_v3", device, &info) != kSuccess) return "";
  info.address[sizeof(info.address) - 1] = '\0';
  std::string address = info.address;  // NVML's format: "00000000:3B:00.0"
  if (address.size() > 12) address.erase(0, address.size() - 12);
  std::transform(address.begin(), address.end(), address.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return address;
}

namespace {

using Device = NvmlLibrary::Device;
using Result = NvmlLibrary::Result;
constexpr Result kSuccess = NvmlLibrary::kSuccess;
constexpr unsigned kMigEnabled = 1;

// Adds the MIG instances of a GPU; none for GPUs or drivers without MIG.
void AddMigInstances(const NvmlLibrary& nvml, Device device, Gpu& gpu) {
  unsigned mode = 0;
  unsigned pending = 0;
  unsigned most = 0;
  if (nvml.Call("nvmlDeviceGetMigMode", device, &mode, &pending) != kSuccess ||
      mode != kMigEnabled ||
      nvml.Call("nvmlDeviceGetMaxMigDeviceCount", device, &most) != kSuccess) {
    return;
  }
  for (unsigned i = 0; i < most && i < NvmlLibrary::kMaxInstances; ++i) {
    Device instance = nullptr;
    // A number without a MIG instance is skipped: NVML's numbers may have gaps.
    if (nvml.Call("nvmlDeviceGetMigDeviceHandleByIndex", device, i,
                  &instance) != kSuccess) {
      continue;
    }
    Result result = kSuccess;
    std::string id = nvml.IdOf(instance, &result);
    if (result != kSuccess) continue;
    gpu.mig_instances.push_back(std::move(id));
    unsigned number = 0;
    result = nvml.Call("nvmlDeviceGetGpuInstanceId", instance, &number);
    gpu.gpu_instances.push_back(result == kSuccess ? static_cast<int>(number)
                                                   : -1);
  }
}

absl::Status Failed(const NvmlLibrary& nvml, const std::string& what,
                    Result result) {
  return absl::InternalError("the GPUs cannot be counted: NVML's " + what +
                             " says: " + nvml.Explain(result));
}

absl::StatusOr<std::vector<Gpu>> ReadFrom(const NvmlLibrary& nvml) {
  unsigned count = 0;
  Result result = nvml.Call("nvmlDeviceGetCount_v2", &count);
  if (result != kSuccess) return Failed(nvml, "nvmlDeviceGetCount", result);
  std::vector<Gpu> gpus;
  for (unsigned i = 0; i < count && i < NvmlLibrary::kMaxGpus; ++i) {
    Device device = nullptr;
    result = nvml.Call("nvmlDeviceGetHandleByIndex_v2", i, &device);
    // This call fails for a GPU that has fallen off the bus, although
    // nvmlDeviceGetCount still counts the GPU. The whole reading then fails,
    // and the other GPUs are not listed either.
    if (result != kSuccess) {
      return Failed(nvml,
                    "nvmlDeviceGetHandleByIndex for GPU " + std::to_string(i),
                    result);
    }
    Gpu gpu;
    gpu.uuid = nvml.IdOf(device, &result);
    if (result != kSuccess) return Failed(nvml, "nvmlDeviceGetUUID", result);
    AddMigInstances(nvml, device, gpu);
    gpu.pci_address = nvml.PciAddressOf(device);
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

}  // namespace

absl::StatusOr<std::vector<Gpu>> ReadGpus(const std::string& library) {
  const NvmlLibrary nvml(library);
  if (!nvml.loaded()) return std::vector<Gpu>();
  const Result result = nvml.Call("nvmlInit_v2");
  if (result == NvmlLibrary::kDriverNotLoaded ||
      result == NvmlLibrary::kNoDriverFiles) {
    return std::vector<Gpu>();
  }
  if (result != kSuccess) return Failed(nvml, "nvmlInit", result);
  absl::StatusOr<std::vector<Gpu>> gpus = ReadFrom(nvml);
  nvml.Call("nvmlShutdown");
  return gpus;
}

absl::StatusOr<VisibleGpuList> ReadVisibleGpus(
    const std::optional<std::string>& cuda_visible_devices,
    const std::string& library) {
  // If all GPUs are hidden, the driver's library is not loaded, because loading
  // takes tens of milliseconds.
  if (cuda_visible_devices &&
      (cuda_visible_devices->empty() || *cuda_visible_devices == "-1")) {
    return VisibleGpuList();
  }
  const absl::StatusOr<std::vector<Gpu>> gpus = ReadGpus(library);
  if (!gpus.ok()) return gpus.status();
  VisibleGpuList visible;
  visible.names = VisibleGpus(cuda_visible_devices, *gpus);
  visible.pci_addresses = PciAddresses(visible.names, *gpus);
  return visible;
}

}  // namespace muster::agent
