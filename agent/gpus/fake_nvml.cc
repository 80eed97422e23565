// A fake of NVIDIA's management library (NVML), for tests. Environment
// variables configure it:
//   FAKE_NVML_GPUS  the number of GPUs
//   FAKE_NVML_MIG   the number of MIG instances of the first GPU
//   FAKE_NVML_INIT  the result of nvmlInit
//   FAKE_NVML_HANG  1: nvmlInit never returns
//                   2: nvmlDeviceGetUtilizationRates never returns
//   FAKE_NVML_SET   a list such as "1.ecc=3,0.width=8,fallen=1": KEY=VALUE for
//                   every GPU, or INDEX.KEY=VALUE for one GPU
// Some keys of FAKE_NVML_SET:
//   unsupported=1  the functions for metrics and Xids return
//                  NVML_ERROR_NOT_SUPPORTED
//   old=1          nvmlDeviceGetMemoryInfo_v2 returns NVML_ERROR_NOT_SUPPORTED
//   xid=79         each event set gets this Xid once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

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

// The value of `key` for the GPU `device` in the variable FAKE_NVML_SET;
// `fallback` if the variable has no such key. An entry for this GPU takes
// precedence over an entry for all GPUs. If several entries for this GPU (or
// several for all GPUs) have the key, the last one counts.
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

// Returns NVML_ERROR_NOT_SUPPORTED if FAKE_NVML_SET has "unsupported=1".
// Otherwise stores the value of `key` in FAKE_NVML_SET, or `fallback`, in
// `*value` and returns NVML_SUCCESS.
template <typename Value>
int TellIfSupported(void* device, const char* key, unsigned long long fallback,
                    Value* value) {
  if (Said(device, "unsupported", 0) != 0) return 3;
  return Tell(device, key, fallback, value);
}

constexpr int kNotSupported = 3;
constexpr int kTimeout = 10;
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
struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct Utilization {
  unsigned gpu, memory;
};
struct FieldValue {
  unsigned id, scope;
  long long timestamp, latency;
  int type, result;
  unsigned long long value;
};
struct EventData {
  void* device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};
constexpr unsigned long long kXidEvent = 8;
struct EventSet {
  // devices for which this event set must still report the Xid of FAKE_NVML_SET
  std::vector<void*> devices;
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
  while (Setting("FAKE_NVML_HANG") == 1) pause();
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

// Only even instance numbers exist in this fake: the instance numbers of the
// real NVML may have gaps, too.
int nvmlDeviceGetMigDeviceHandleByIndex(void* /*device*/, unsigned index,
                                        void** instance) {
  const int most = Setting("FAKE_NVML_MIG");
  const int number = static_cast<int>(index);
  if (number % 2 == 1 || number / 2 >= most) return kNotFound;
  *instance = DeviceOf(101 + number / 2);
  return 0;
}

// A MIG instance belongs to a GPU instance. In this fake, the GPU instances
// have the numbers 7, 8, …
int nvmlDeviceGetGpuInstanceId(void* device, unsigned* number) {
  if (NumberOf(device) <= 100) return kInvalidArgument;
  *number = static_cast<unsigned>(7 + NumberOf(device) - 101);
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

int nvmlDeviceGetMemoryInfo_v2(void* device, MemoryV2* memory) {
  if (Said(device, "old", 0) != 0) return kNotSupported;
  if (memory->version != (sizeof(MemoryV2) | 2u << 24)) return kInvalidArgument;
  memory->total = Said(device, "gib", 80) * kGiB;
  memory->reserved = kGiB;
  memory->used = Said(device, "used_mib", 512) << 20;
  memory->free = memory->total - memory->reserved - memory->used;
  return 0;
}

int nvmlDeviceGetUtilizationRates(void* device, Utilization* use) {
  while (Setting("FAKE_NVML_HANG") == 2) pause();
  const int result = TellIfSupported(device, "utilization", 87, &use->gpu);
  return result != 0 ? result
                     : Tell(device, "memory_utilization", 34, &use->memory);
}

int nvmlDeviceGetFieldValues(void* device, int count, FieldValue* values) {
  constexpr unsigned kMemoryTemperature = 82;
  for (int i = 0; i < count; ++i) {
    const bool known = values[i].id == kMemoryTemperature;
    unsigned value = 0;
    values[i].result =
        known ? TellIfSupported(device, "memory_celsius", 52, &value)
              : kNotSupported;
    // the value is an unsigned int (NVML_VALUE_TYPE_UNSIGNED_INT of nvml.h)
    values[i].type = 1;
    values[i].value = value;
  }
  return 0;
}

int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  return TellIfSupported(device, "milliwatts", 412'500, milliwatts);
}

int nvmlDeviceGetTotalEnergyConsumption(void* device,
                                        unsigned long long* millijoules) {
  return TellIfSupported(device, "millijoules", 9'000'500, millijoules);
}

int nvmlDeviceGetPcieReplayCounter(void* device, unsigned* replays) {
  return TellIfSupported(device, "replays", 0, replays);
}

// The key "link_errors" of FAKE_NVML_SET gives the number of replays of each
// NVLink. The fake returns multiples of this number for the link's other
// errors: twice as many recoveries, three times as many CRC errors of flits,
// four times as many of data.
int nvmlDeviceGetNvLinkErrorCounter(void* device, unsigned /*link*/,
                                    int counter, unsigned long long* errors) {
  const int result = TellIfSupported(device, "link_errors", 0, errors);
  *errors *= 1 + counter;
  return result;
}

int nvmlEventSetCreate(EventSet** set) {
  *set = new EventSet;
  return 0;
}
int nvmlEventSetFree(EventSet* set) {
  delete set;
  return 0;
}
int nvmlDeviceRegisterEvents(void* device, unsigned long long types,
                             EventSet* set) {
  if (Said(device, "unsupported", 0) != 0) return kNotSupported;
  if (types != kXidEvent) return kInvalidArgument;
  if (Said(device, "xid", 0) != 0) set->devices.push_back(device);
  return 0;
}
int nvmlEventSetWait_v2(EventSet* set, EventData* event,
                        unsigned milliseconds) {
  if (set->devices.empty()) {
    usleep(milliseconds * 1000);
    return kTimeout;
  }
  *event = {set->devices.back(), kXidEvent, Said(set->devices.back(), "xid", 0),
            ~0u, ~0u};
  set->devices.pop_back();
  return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count,
                                            ProcessInfo* processes) {
  const auto pid = static_cast<unsigned>(Said(device, "pid", 0));
  if (pid != 0) processes[0] = {pid, 3 * kGiB, ~0u, ~0u};
  *count = pid != 0 ? 1 : 0;
  return 0;
}

// The keys "ecc" (uncorrected) and "corrected" of FAKE_NVML_SET give the
// numbers of memory errors since the driver was loaded. The fake returns
// numbers that are larger by 100 for the errors since the GPU was made.
int nvmlDeviceGetTotalEccErrors(void* device, int type, int since,
                                unsigned long long* errors) {
  const int result =
      TellIfSupported(device, type == 1 ? "ecc" : "corrected", 0, errors);
  if (since == 1) *errors += 100;
  return result;
}

int nvmlDeviceGetRetiredPagesPendingStatus(void* device, unsigned* pending) {
  return Tell(device, "retiring", 0, pending);
}

int nvmlDeviceGetRemappedRows(void* device, unsigned* correctable,
                              unsigned* uncorrectable, unsigned* pending,
                              unsigned* failed) {
  if (Said(device, "unsupported", 0) != 0) return kNotSupported;
  Tell(device, "remapped_correctable", 0, correctable);
  Tell(device, "remapped", 0, uncorrectable);
  Tell(device, "remap_pending", 0, pending);
  return Tell(device, "remap_failed", 0, failed);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void* device,
                                              unsigned long long* reasons) {
  return TellIfSupported(device, "throttle", 1, reasons);
}

int nvmlDeviceGetTemperature(void* device, int /*sensor*/, unsigned* degrees) {
  return TellIfSupported(device, "celsius", 41, degrees);
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
