#include "agent/gpus/nvml.h"

#include <dlfcn.h>

#include <memory>

#include "absl/status/status.h"

namespace muster {
namespace {

// From NVIDIA's nvml.h, whose binary interface is stable.
using Device = struct NvmlDevice*;
using Result = int;
constexpr Result kSuccess = 0;
constexpr Result kDriverNotLoaded = 9;
constexpr Result kNoDriverFiles = 12;  // NVML_ERROR_LIBRARY_NOT_FOUND
constexpr unsigned kIdBytes = 96;      // NVML_DEVICE_UUID_V2_BUFFER_SIZE
constexpr unsigned kMigEnabled = 1;
// Beyond what any machine has; the count comes from outside.
constexpr unsigned kMostGpus = 1024;
constexpr unsigned kMostInstances = 64;

class Library {
 public:
  explicit Library(const std::string& name)
      : handle_(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {}
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  bool loaded() const { return handle_ != nullptr; }

  // Calls the function of that name; kMissing where an old driver has none.
  static constexpr Result kMissing = -1;
  template <typename... Arguments>
  Result Call(const char* name, Arguments... arguments) const {
    using Function = Result (*)(Arguments...);
    const auto function = reinterpret_cast<Function>(dlsym(handle_, name));
    return function == nullptr ? kMissing : function(arguments...);
  }

  std::string Explain(Result result) const {
    if (result == kMissing) return "the driver is too old";
    using Function = const char* (*)(Result);
    const auto function =
        reinterpret_cast<Function>(dlsym(handle_, "nvmlErrorString"));
    const char* text = function == nullptr ? nullptr : function(result);
    return text == nullptr ? "error " + std::to_string(result) : text;
  }

 private:
  void* const handle_;
};

std::string IdOf(const Library& nvml, Device device, Result* result) {
  char id[kIdBytes] = {};
  *result = nvml.Call("nvmlDeviceGetUUID", device, +id, kIdBytes);
  id[kIdBytes - 1] = '\0';
  return id;
}

// GPUs without MIG, and drivers that do not know it, have none.
std::vector<std::string> MigInstances(const Library& nvml, Device device) {
  unsigned mode = 0;
  unsigned pending = 0;
  unsigned most = 0;
  if (nvml.Call("nvmlDeviceGetMigMode", device, &mode, &pending) != kSuccess ||
      mode != kMigEnabled ||
      nvml.Call("nvmlDeviceGetMaxMigDeviceCount", device, &most) != kSuccess) {
    return {};
  }
  std::vector<std::string> ids;
  for (unsigned i = 0; i < most && i < kMostInstances; ++i) {
    Device instance = nullptr;
    // Not found: the numbers have holes.
    if (nvml.Call("nvmlDeviceGetMigDeviceHandleByIndex", device, i,
                  &instance) != kSuccess) {
      continue;
    }
    Result result = kSuccess;
    std::string id = IdOf(nvml, instance, &result);
    if (result == kSuccess) ids.push_back(std::move(id));
  }
  return ids;
}

absl::Status Failed(const Library& nvml, const std::string& what,
                    Result result) {
  return absl::InternalError("the GPUs cannot be counted: NVML's " + what +
                             " says: " + nvml.Explain(result));
}

absl::StatusOr<std::vector<Gpu>> ReadFrom(const Library& nvml) {
  unsigned count = 0;
  Result result = nvml.Call("nvmlDeviceGetCount_v2", &count);
  if (result != kSuccess) return Failed(nvml, "nvmlDeviceGetCount", result);
  std::vector<Gpu> gpus;
  for (unsigned i = 0; i < count && i < kMostGpus; ++i) {
    Device device = nullptr;
    result = nvml.Call("nvmlDeviceGetHandleByIndex_v2", i, &device);
    // A GPU that fell off the bus: it has its index still.
    if (result != kSuccess) {
      return Failed(nvml,
                    "nvmlDeviceGetHandleByIndex for GPU " + std::to_string(i),
                    result);
    }
    Gpu gpu;
    gpu.uuid = IdOf(nvml, device, &result);
    if (result != kSuccess) return Failed(nvml, "nvmlDeviceGetUUID", result);
    gpu.mig_instances = MigInstances(nvml, device);
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

}  // namespace

absl::StatusOr<std::vector<Gpu>> ReadGpus(const std::string& library) {
  const Library nvml(library);
  if (!nvml.loaded()) return std::vector<Gpu>();
  const Result result = nvml.Call("nvmlInit_v2");
  if (result == kDriverNotLoaded || result == kNoDriverFiles) {
    return std::vector<Gpu>();
  }
  if (result != kSuccess) return Failed(nvml, "nvmlInit", result);
  absl::StatusOr<std::vector<Gpu>> gpus = ReadFrom(nvml);
  nvml.Call("nvmlShutdown");
  return gpus;
}

absl::StatusOr<std::vector<std::string>> ReadVisibleGpus(
    const std::optional<std::string>& cuda_visible_devices,
    const std::string& library) {
  // Loading the driver's library takes tens of milliseconds.
  if (cuda_visible_devices &&
      (cuda_visible_devices->empty() || *cuda_visible_devices == "-1")) {
    return std::vector<std::string>();
  }
  const absl::StatusOr<std::vector<Gpu>> gpus = ReadGpus(library);
  if (!gpus.ok()) return gpus.status();
  return VisibleGpus(cuda_visible_devices, *gpus);
}

}  // namespace muster
