#include "agent/gpus/read_gpu_facts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "agent/gpus/nvml.h"

namespace muster::agent {
namespace {

using Device = NvmlLibrary::Device;
using Result = NvmlLibrary::Result;
constexpr Result kSuccess = NvmlLibrary::kSuccess;

// The maximum number of GPUs of which pairs are examined. The number of pairs
// grows with the square of this number.
constexpr size_t kMaxPaired = 16;
// the number of NVLinks of a GPU is at most NVML_NVLINK_MAX_LINKS of nvml.h
constexpr unsigned kMaxLinks = 36;
constexpr unsigned kMaxProcesses = 128;

// The following structs have the memory layouts of NVIDIA's nvml.h.
struct Memory {
  unsigned long long total, free, used;
};
struct ProcessInfo {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};
constexpr unsigned long long kUsedNotKnown = ~0ull;

std::string Text(const NvmlLibrary& nvml, const char* function) {
  char text[NvmlLibrary::kTextBytes] = {};
  if (nvml.Call(function, +text, NvmlLibrary::kTextBytes) != kSuccess) {
    return "";
  }
  text[sizeof(text) - 1] = '\0';
  return text;
}

template <typename Raw, typename Value>
void Ask(const NvmlLibrary& nvml, const char* function, Device device,
         std::optional<Value>* value) {
  Raw raw = 0;
  if (nvml.Call(function, device, &raw) != kSuccess) return;
  *value = static_cast<Value>(raw);
}

void AskMemory(const NvmlLibrary& nvml, Device device, GpuDevice& gpu) {
  Memory memory = {};
  if (nvml.Call("nvmlDeviceGetMemoryInfo", device, &memory) == kSuccess) {
    gpu.memory_total = static_cast<int64_t>(memory.total);
    gpu.memory_used = static_cast<int64_t>(memory.used);
  }
  std::array<ProcessInfo, kMaxProcesses> processes = {};
  unsigned count = kMaxProcesses;
  const Result result = nvml.Call("nvmlDeviceGetComputeRunningProcesses_v3",
                                  device, &count, processes.data());
  if (result != kSuccess) return;
  for (unsigned i = 0; i < std::min(count, kMaxProcesses); ++i) {
    const bool known = processes[i].used != kUsedNotKnown;
    gpu.processes.push_back(
        {static_cast<int64_t>(processes[i].pid),
         known ? static_cast<int64_t>(processes[i].used) : 0});
  }
}

void AskErrors(const NvmlLibrary& nvml, Device device, GpuDevice& gpu) {
  constexpr int kUncorrected = 1;
  constexpr int kSinceDriver = 0;
  unsigned long long errors = 0;
  if (nvml.Call("nvmlDeviceGetTotalEccErrors", device, kUncorrected,
                kSinceDriver, &errors) == kSuccess) {
    gpu.uncorrectable_errors = static_cast<int64_t>(errors);
  }
  Ask<unsigned>(nvml, "nvmlDeviceGetRetiredPagesPendingStatus", device,
                &gpu.retirement_pending);
  unsigned correctable = 0, uncorrectable = 0, pending = 0, failed = 0;
  if (nvml.Call("nvmlDeviceGetRemappedRows", device, &correctable,
                &uncorrectable, &pending, &failed) == kSuccess) {
    gpu.remapped_rows =
        RemappedRows{correctable, uncorrectable, pending != 0, failed != 0};
  }
}

void AskMode(const NvmlLibrary& nvml, Device device, GpuDevice& gpu) {
  Ask<unsigned long long>(nvml, "nvmlDeviceGetCurrentClocksThrottleReasons",
                          device, &gpu.clock_limits);
  constexpr int kOfGpu = 0;
  unsigned temperature = 0;
  if (nvml.Call("nvmlDeviceGetTemperature", device, kOfGpu, &temperature) ==
      kSuccess) {
    gpu.temperature = static_cast<int>(temperature);
  }
  Ask<unsigned>(nvml, "nvmlDeviceGetPersistenceMode", device, &gpu.persistent);
  Ask<int>(nvml, "nvmlDeviceGetComputeMode", device, &gpu.compute_mode);
  unsigned mode = 0, pending = 0, most = 0;
  if (nvml.Call("nvmlDeviceGetMigMode", device, &mode, &pending) != kSuccess) {
    return;
  }
  gpu.mig = mode != 0;
  gpu.mig_pending = pending != 0;
  if (mode == 0 ||
      nvml.Call("nvmlDeviceGetMaxMigDeviceCount", device, &most) != kSuccess) {
    return;
  }
  for (unsigned i = 0; i < std::min(most, NvmlLibrary::kMaxInstances); ++i) {
    Device instance = nullptr;
    if (nvml.Call("nvmlDeviceGetMigDeviceHandleByIndex", device, i,
                  &instance) == kSuccess) {
      ++gpu.mig_instances;
    }
  }
}

void AskLinks(const NvmlLibrary& nvml, Device device, GpuDevice& gpu) {
  unsigned width = 0, max_width = 0, generation = 0, max_generation = 0;
  if (nvml.Call("nvmlDeviceGetCurrPcieLinkWidth", device, &width) == kSuccess &&
      nvml.Call("nvmlDeviceGetMaxPcieLinkWidth", device, &max_width) ==
          kSuccess &&
      nvml.Call("nvmlDeviceGetCurrPcieLinkGeneration", device, &generation) ==
          kSuccess &&
      nvml.Call("nvmlDeviceGetMaxPcieLinkGeneration", device,
                &max_generation) == kSuccess) {
    gpu.pcie = PcieLink{static_cast<int>(width), static_cast<int>(max_width),
                        static_cast<int>(generation),
                        static_cast<int>(max_generation)};
  }
  for (unsigned link = 0; link < kMaxLinks; ++link) {
    unsigned active = 0;
    const Result result =
        nvml.Call("nvmlDeviceGetNvLinkState", device, link, &active);
    // The GPU has no further NVLink: for a number beyond the last one, NVML
    // reports an invalid argument.
    if (result != kSuccess) break;
    (active != 0 ? gpu.links_up : gpu.links_down)
        .push_back(static_cast<int>(link));
  }
}

GpuDevice ReadDevice(const NvmlLibrary& nvml, unsigned index, Device* device) {
  GpuDevice gpu;
  gpu.index = static_cast<int>(index);
  Result result = nvml.Call("nvmlDeviceGetHandleByIndex_v2", index, device);
  if (result != kSuccess) {
    *device = nullptr;
    gpu.error = nvml.Explain(result);
    return gpu;
  }
  gpu.pci_address = nvml.PciAddressOf(*device);
  gpu.uuid = nvml.IdOf(*device, &result);
  if (result != kSuccess) {
    gpu.error = nvml.Explain(result);
    return gpu;
  }
  char name[NvmlLibrary::kTextBytes] = {};
  nvml.Call("nvmlDeviceGetName", *device, +name, NvmlLibrary::kTextBytes);
  name[sizeof(name) - 1] = '\0';
  gpu.name = name;
  AskMemory(nvml, *device, gpu);
  AskErrors(nvml, *device, gpu);
  AskMode(nvml, *device, gpu);
  AskLinks(nvml, *device, gpu);
  return gpu;
}

void ReadPairs(const NvmlLibrary& nvml, const std::vector<Device>& devices,
               GpuFacts& facts) {
  // asks whether one GPU can read the other's memory: NVML_P2P_CAPS_INDEX_READ
  // of nvml.h
  constexpr int kRead = 0;
  const size_t count = std::min(devices.size(), kMaxPaired);
  for (size_t a = 0; a < count; ++a) {
    for (size_t b = a + 1; b < count; ++b) {
      if (devices[a] == nullptr || devices[b] == nullptr) continue;
      GpuPair pair;
      pair.a = static_cast<int>(a);
      pair.b = static_cast<int>(b);
      int value = 0;
      if (nvml.Call("nvmlDeviceGetP2PStatus", devices[a], devices[b], kRead,
                    &value) == kSuccess) {
        pair.peer_status = value;
      }
      if (nvml.Call("nvmlDeviceGetTopologyCommonAncestor", devices[a],
                    devices[b], &value) == kSuccess) {
        pair.distance = value;
      }
      facts.pairs.push_back(pair);
    }
  }
}

void ReadFrom(const NvmlLibrary& nvml, GpuFacts& facts) {
  facts.driver_version = Text(nvml, "nvmlSystemGetDriverVersion");
  int cuda = 0;
  if (nvml.Call("nvmlSystemGetCudaDriverVersion_v2", &cuda) == kSuccess) {
    facts.driver_cuda = cuda;
  }
  unsigned count = 0;
  const Result result = nvml.Call("nvmlDeviceGetCount_v2", &count);
  if (result != kSuccess) {
    facts.state = GpuFacts::State::kFailed;
    facts.error_code = result;
    facts.error = nvml.Explain(result);
    return;
  }
  facts.state = GpuFacts::State::kRead;
  std::vector<Device> devices;
  for (unsigned i = 0; i < std::min(count, NvmlLibrary::kMaxGpus); ++i) {
    facts.devices.push_back(ReadDevice(nvml, i, &devices.emplace_back()));
  }
  ReadPairs(nvml, devices, facts);
}

}  // namespace

GpuFacts ReadGpuFacts(const std::string& library) {
  GpuFacts facts;
  const NvmlLibrary nvml(library);
  if (!nvml.loaded()) return facts;
  const Result result = nvml.Call("nvmlInit_v2");
  if (result == NvmlLibrary::kDriverNotLoaded ||
      result == NvmlLibrary::kNoDriverFiles) {
    return facts;
  }
  if (result != kSuccess) {
    facts.state = GpuFacts::State::kFailed;
    facts.error_code = result;
    facts.error = nvml.Explain(result);
    return facts;
  }
  ReadFrom(nvml, facts);
  nvml.Call("nvmlShutdown");
  return facts;
}

}  // namespace muster::agent
