// A fake of NVIDIA's management library, for tests, configured by environment
// variables. FAKE_NVML_GPUS: the number of GPUs. FAKE_NVML_MIG: the number of
// MIG instances of the first GPU. FAKE_NVML_INIT: the result of nvmlInit.
// FAKE_NVML_HANG=1: nvmlInit never returns. FAKE_NVML_SET: faults such as
// "1.ecc=3,0.width=8,fallen=1", where KEY=VALUE is for every GPU and
// INDEX.KEY=VALUE for one.

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

int Setting(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atoi(text);
}

// Converts a device number to a handle. The number is 1 + index for a GPU, 101
// + index for a MIG instance.
void* DeviceOf(int number) {
  return reinterpret_cast<void*>(static_cast<intptr_t>(number));
}
int NumberOf(void* device) {
  return static_cast<int>(reinterpret_cast<intptr_t>(device));
}

// The value that FAKE_NVML_SET gives `key` for this GPU, else `fallback`; the
// last of several assignments counts.
unsigned long long Said(void* device, const char* key,
                        unsigned long long fallback) {
  const char* text = std::getenv("FAKE_NVML_SET");
  if (text == nullptr) return fallback;
  const std::string all = std::string(",") + text;
  const std::string own = std::to_string(NumberOf(device) - 1) + ".";
  const std::string names[] = {"," + own + key + "=",
                               std::string(",") + key + "="};
  for (const std::string& name : names) {
    const size_t at = all.rfind(name);
    if (at == std::string::npos) continue;
    return std::strtoull(all.c_str() + at + name.size(), nullptr, 10);
  }
  return fallback;
}

template <typename Value>
int Tell(void* device, const char* key, unsigned long long fallback,
         Value* value) {
  *value = static_cast<Value>(Said(device, key, fallback));
  return 0;
}

constexpr int kNotSupported = 3;
constexpr int kGpuIsLost = 15;
constexpr unsigned long long kGiB = 1ull << 30;

struct PciInfo {
  char short_address[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char address[32];
};
struct Memory {
  unsigned long long total, free, used;
};
struct ProcessInfo {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};

constexpr int kNotFound = 6;
constexpr int kInvalidArgument = 2;
constexpr unsigned kMaxInstances = 7;

}  // namespace

extern "C" {

int nvmlInit_v2() {
  while (Setting("FAKE_NVML_HANG") != 0) pause();
  return Setting("FAKE_NVML_INIT");
}
int nvmlShutdown() { return 0; }

const char* nvmlErrorString(int result) {
  if (result == kGpuIsLost) return "GPU is lost";
  return result == 18 ? "Driver/library version mismatch" : "Unknown Error";
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(Setting("FAKE_NVML_GPUS"));
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = DeviceOf(1 + static_cast<int>(index));
  return Said(*device, "fallen", 0) != 0 ? kGpuIsLost : 0;
}

int nvmlDeviceGetUUID(void* device, char* id, unsigned size) {
  const int number = NumberOf(device);
  if (size < 64) return kInvalidArgument;
  if (number > 100) {
    std::snprintf(id, size, "MIG-%d", number - 101);
  } else {
    std::snprintf(id, size, "GPU-%d", number - 1);
  }
  return 0;
}

int nvmlDeviceGetMigMode(void* device, unsigned* mode, unsigned* pending) {
  *mode = NumberOf(device) == 1 && Setting("FAKE_NVML_MIG") > 0 ? 1 : 0;
  *pending = *mode;
  return 0;
}

int nvmlDeviceGetMaxMigDeviceCount(void* /*device*/, unsigned* count) {
  *count = kMaxInstances;
  return 0;
}

// Every second instance number is unused, because real numbers have gaps too.
int nvmlDeviceGetMigDeviceHandleByIndex(void* /*device*/, unsigned index,
                                        void** instance) {
  const int most = Setting("FAKE_NVML_MIG");
  const int number = static_cast<int>(index);
  if (number % 2 == 1 || number / 2 >= most) return kNotFound;
  *instance = DeviceOf(101 + number / 2);
  return 0;
}

int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "550.54.15");
  return 0;
}

int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return Tell(nullptr, "cuda", 12040, version);
}

// Returns the model that "model" in FAKE_NVML_SET selects: 0 is an H100, any
// other value an A100.
int nvmlDeviceGetName(void* device, char* name, unsigned size) {
  std::snprintf(name, size, "NVIDIA %s",
                Said(device, "model", 0) == 0 ? "H100" : "A100");
  return 0;
}

int nvmlDeviceGetPciInfo_v3(void* device, PciInfo* info) {
  std::snprintf(info->address, sizeof(info->address), "00000000:%02X:00.0",
                0x3a + NumberOf(device));
  return 0;
}

int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  memory->total = Said(device, "gib", 80) * kGiB;
  memory->used = Said(device, "used_mib", 512) << 20;
  memory->free = memory->total - memory->used;
  return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count,
                                            ProcessInfo* processes) {
  const auto pid = static_cast<unsigned>(Said(device, "pid", 0));
  if (pid != 0) processes[0] = {pid, 3 * kGiB, ~0u, ~0u};
  *count = pid != 0 ? 1 : 0;
  return 0;
}

int nvmlDeviceGetTotalEccErrors(void* device, int /*type*/, int /*since*/,
                                unsigned long long* errors) {
  return Tell(device, "ecc", 0, errors);
}

int nvmlDeviceGetRetiredPagesPendingStatus(void* device, unsigned* pending) {
  return Tell(device, "retiring", 0, pending);
}

int nvmlDeviceGetRemappedRows(void* device, unsigned* correctable,
                              unsigned* uncorrectable, unsigned* pending,
                              unsigned* failed) {
  *correctable = 0;
  Tell(device, "remapped", 0, uncorrectable);
  Tell(device, "remap_pending", 0, pending);
  return Tell(device, "remap_failed", 0, failed);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void* device,
                                              unsigned long long* reasons) {
  return Tell(device, "throttle", 1, reasons);
}

int nvmlDeviceGetTemperature(void* device, int /*sensor*/, unsigned* degrees) {
  return Tell(device, "celsius", 41, degrees);
}

int nvmlDeviceGetPersistenceMode(void* device, unsigned* mode) {
  return Tell(device, "persistent", 1, mode);
}

int nvmlDeviceGetComputeMode(void* device, int* mode) {
  return Tell(device, "compute_mode", 0, mode);
}

int nvmlDeviceGetCurrPcieLinkWidth(void* device, unsigned* width) {
  return Tell(device, "width", 16, width);
}
int nvmlDeviceGetMaxPcieLinkWidth(void* device, unsigned* width) {
  return Tell(device, "max_width", 16, width);
}
int nvmlDeviceGetCurrPcieLinkGeneration(void* device, unsigned* generation) {
  return Tell(device, "generation", 5, generation);
}
int nvmlDeviceGetMaxPcieLinkGeneration(void* device, unsigned* generation) {
  return Tell(device, "max_generation", 5, generation);
}

// In FAKE_NVML_SET, "links" is the number of NVLinks; "link_down" is the
// number, counted from 1, of a link that is down.
int nvmlDeviceGetNvLinkState(void* device, unsigned link, unsigned* active) {
  if (link >= Said(device, "links", 0)) {
    return link == 0 ? kNotSupported : kInvalidArgument;
  }
  *active = Said(device, "link_down", 0) == link + 1 ? 0 : 1;
  return 0;
}

int nvmlDeviceGetP2PStatus(void* a, void* /*b*/, int /*index*/, int* status) {
  return Tell(a, "peer_status", 0, status);
}

int nvmlDeviceGetTopologyCommonAncestor(void* a, void* /*b*/, int* level) {
  return Tell(a, "distance", 40, level);
}
}
