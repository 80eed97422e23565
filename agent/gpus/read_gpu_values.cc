#include "agent/gpus/read_gpu_values.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "agent/gpus/nvml.h"

namespace muster::agent {
namespace {

using Device = NvmlLibrary::Device;
using Result = NvmlLibrary::Result;
constexpr Result kSuccess = NvmlLibrary::kSuccess;

// the number of NVLinks of a GPU is at most NVML_NVLINK_MAX_LINKS of nvml.h
constexpr unsigned kMaxLinks = 36;

// The following structs have the memory layouts of NVIDIA's nvml.h.
struct Utilization {
  // percent of the time in which the GPU computed, and in which its memory was
  // read or written
  unsigned gpu, memory;
};
struct Memory {
  unsigned long long total, free, used;
};
struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct FieldValue {
  unsigned id, scope;
  long long timestamp, latency;
  int type;
  Result result;
  union {
    double as_double;
    unsigned as_unsigned;
    unsigned long as_long;
    unsigned long long as_long_long;
  } value;
};

void ReadUse(const NvmlLibrary& nvml, Device device, GpuValues& gpu) {
  Utilization use = {};
  if (nvml.Call("nvmlDeviceGetUtilizationRates", device, &use) == kSuccess) {
    gpu.utilization = use.gpu / 100.0;
    gpu.memory_utilization = use.memory / 100.0;
  }
  // First tries nvmlDeviceGetMemoryInfo_v2, which DCGM uses. Unlike
  // nvmlDeviceGetMemoryInfo, this function does not count the driver's own
  // memory as used.
  MemoryV2 memory = {};
  memory.version = sizeof(memory) | 2u << 24;
  if (nvml.Call("nvmlDeviceGetMemoryInfo_v2", device, &memory) == kSuccess) {
    gpu.memory_used = static_cast<int64_t>(memory.used);
    gpu.memory_free = static_cast<int64_t>(memory.free);
    return;
  }
  Memory old = {};
  if (nvml.Call("nvmlDeviceGetMemoryInfo", device, &old) == kSuccess) {
    gpu.memory_used = static_cast<int64_t>(old.used);
    gpu.memory_free = static_cast<int64_t>(old.free);
  }
}

void ReadHeatAndPower(const NvmlLibrary& nvml, Device device, GpuValues& gpu) {
  constexpr int kOfGpu = 0;
  unsigned value = 0;
  if (nvml.Call("nvmlDeviceGetTemperature", device, kOfGpu, &value) ==
      kSuccess) {
    gpu.temperature = static_cast<int>(value);
  }
  // field id of the memory's temperature: NVML_FI_DEV_MEMORY_TEMP of nvml.h
  constexpr unsigned kMemoryTemperature = 82;
  FieldValue field = {};
  field.id = kMemoryTemperature;
  if (nvml.Call("nvmlDeviceGetFieldValues", device, 1, &field) == kSuccess &&
      field.result == kSuccess) {
    gpu.memory_temperature = static_cast<int>(field.value.as_unsigned);
  }
  if (nvml.Call("nvmlDeviceGetPowerUsage", device, &value) == kSuccess) {
    gpu.power = value / 1e3;
  }
  unsigned long long millijoules = 0;
  if (nvml.Call("nvmlDeviceGetTotalEnergyConsumption", device, &millijoules) ==
      kSuccess) {
    gpu.energy = static_cast<double>(millijoules) / 1e3;
  }
  unsigned long long limits = 0;
  if (nvml.Call("nvmlDeviceGetCurrentClocksThrottleReasons", device, &limits) ==
      kSuccess) {
    gpu.clock_limits = limits;
  }
}

std::optional<EccErrors> ReadEcc(const NvmlLibrary& nvml, Device device,
                                 int counter) {
  constexpr int kCorrected = 0;
  constexpr int kUncorrected = 1;
  unsigned long long corrected = 0, uncorrected = 0;
  if (nvml.Call("nvmlDeviceGetTotalEccErrors", device, kCorrected, counter,
                &corrected) != kSuccess ||
      nvml.Call("nvmlDeviceGetTotalEccErrors", device, kUncorrected, counter,
                &uncorrected) != kSuccess) {
    return std::nullopt;
  }
  return EccErrors{static_cast<int64_t>(corrected),
                   static_cast<int64_t>(uncorrected)};
}

void ReadMemoryErrors(const NvmlLibrary& nvml, Device device, GpuValues& gpu) {
  constexpr int kVolatile = 0;
  constexpr int kAggregate = 1;
  gpu.volatile_ecc = ReadEcc(nvml, device, kVolatile);
  gpu.aggregate_ecc = ReadEcc(nvml, device, kAggregate);
  unsigned correctable = 0, uncorrectable = 0, pending = 0, failed = 0;
  if (nvml.Call("nvmlDeviceGetRemappedRows", device, &correctable,
                &uncorrectable, &pending, &failed) == kSuccess) {
    gpu.remapped_rows =
        RemappedRows{correctable, uncorrectable, pending != 0, failed != 0};
  }
}

// Adds one error counter of an NVLink to `sum`. Returns false if the driver
// does not report this counter.
bool AddLinkErrors(const NvmlLibrary& nvml, Device device, unsigned link,
                   int counter, int64_t* sum) {
  unsigned long long count = 0;
  if (nvml.Call("nvmlDeviceGetNvLinkErrorCounter", device, link, counter,
                &count) != kSuccess) {
    return false;
  }
  *sum += static_cast<int64_t>(count);
  return true;
}

void ReadLinkErrors(const NvmlLibrary& nvml, Device device, GpuValues& gpu) {
  int replays = 0;
  if (nvml.Call("nvmlDeviceGetPcieReplayCounter", device, &replays) ==
      kSuccess) {
    gpu.pcie_replays = replays;
  }
  LinkErrors errors;
  bool any = false;
  for (unsigned link = 0; link < kMaxLinks; ++link) {
    unsigned active = 0;
    // End at the GPU's last NVLink: for a number beyond it, NVML reports an
    // invalid argument.
    if (nvml.Call("nvmlDeviceGetNvLinkState", device, link, &active) !=
        kSuccess) {
      break;
    }
    // The counters have the numbers of nvmlNvLinkErrorCounter_t. NVML may
    // refuse to read the counters of a link that is down. Such a link adds
    // nothing to the sums.
    constexpr int kReplay = 0, kRecovery = 1, kCrcFlit = 2, kCrcData = 3;
    any |= AddLinkErrors(nvml, device, link, kReplay, &errors.replay);
    any |= AddLinkErrors(nvml, device, link, kRecovery, &errors.recovery);
    any |= AddLinkErrors(nvml, device, link, kCrcFlit, &errors.crc_flit);
    any |= AddLinkErrors(nvml, device, link, kCrcData, &errors.crc_data);
  }
  if (any) gpu.link_errors = errors;
}

GpuValues ReadDevice(const NvmlLibrary& nvml, unsigned index) {
  GpuValues gpu;
  gpu.index = static_cast<int>(index);
  Device device = nullptr;
  Result result = nvml.Call("nvmlDeviceGetHandleByIndex_v2", index, &device);
  if (result == kSuccess) gpu.uuid = nvml.IdOf(device, &result);
  if (result != kSuccess) {
    gpu.error = nvml.Explain(result);
    return gpu;
  }
  ReadUse(nvml, device, gpu);
  ReadHeatAndPower(nvml, device, gpu);
  ReadMemoryErrors(nvml, device, gpu);
  ReadLinkErrors(nvml, device, gpu);
  return gpu;
}

}  // namespace

absl::StatusOr<std::vector<GpuValues>> ReadGpuValues(
    const std::string& library) {
  const NvmlLibrary nvml(library);
  if (!nvml.loaded()) return absl::NotFoundError("no NVIDIA driver");
  Result result = nvml.Call("nvmlInit_v2");
  if (result == NvmlLibrary::kDriverNotLoaded ||
      result == NvmlLibrary::kNoDriverFiles) {
    return absl::NotFoundError("no NVIDIA driver");
  }
  if (result != kSuccess) {
    return absl::InternalError(
        absl::StrCat("NVML's nvmlInit says: ", nvml.Explain(result)));
  }
  std::vector<GpuValues> gpus;
  unsigned count = 0;
  result = nvml.Call("nvmlDeviceGetCount_v2", &count);
  for (unsigned i = 0;
       result == kSuccess && i < std::min(count, NvmlLibrary::kMaxGpus); ++i) {
    gpus.push_back(ReadDevice(nvml, i));
  }
  nvml.Call("nvmlShutdown");
  if (result != kSuccess) {
    return absl::InternalError(
        absl::StrCat("NVML's nvmlDeviceGetCount says: ", nvml.Explain(result)));
  }
  return gpus;
}

}  // namespace muster::agent
